-- For DuckDB in a store's folder: defines the table names that the other queries use.
--     duckdb -c ".read QUERIES/tables.sql" -c ".read QUERIES/what-broke.sql"
CREATE VIEW files AS SELECT * FROM 'tables/files/*/*.parquet';
CREATE VIEW counts AS SELECT * FROM 'tables/counts/*/*.parquet';
CREATE VIEW findings AS SELECT * FROM 'tables/findings/*/*.parquet';
CREATE VIEW differences AS SELECT * FROM 'tables/differences/*/*.parquet';
CREATE VIEW coverage AS SELECT * FROM 'tables/coverage/*/*.parquet';
CREATE VIEW forecasts AS SELECT * FROM 'tables/forecasts/*/*.parquet';
CREATE VIEW forecast_losses AS SELECT * FROM 'tables/forecast_losses/*/*.parquet';
CREATE VIEW consumers AS SELECT * FROM 'tables/consumers/*/*.parquet';
CREATE VIEW producers AS SELECT * FROM 'tables/producers/*/*.parquet';

export { constructTable, tableFeatures, createFilteredRowModel, createSortedRowModel, columnFilteringFeature, rowSortingFeature } from '@tanstack/table-core';
export { storeReactivityBindings } from '@tanstack/table-core/store-reactivity-bindings';

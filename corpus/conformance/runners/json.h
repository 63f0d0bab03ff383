/* A reader of JSON for the conformance vectors: values in a tree.

   SPDX-License-Identifier: CC0-1.0 */

#ifndef CONFORMANCE_JSON_H
#define CONFORMANCE_JSON_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NOTHING, BOOLEAN, NUMBER, TEXT, LIST, OBJECT };

struct json {
  enum kind kind;
  bool is_true;
  long long number;
  char *text;
  /* The name in an object, and the next value in a list or an object. */
  char *name;
  struct json *next;
  struct json *first;
};

static const char *json_at;

static void json_fail(const char *reason) {
  fprintf(stderr, "JSON: %s at: %.40s\n", reason, json_at);
  exit(3);
}

static void json_space(void) {
  json_at += strspn(json_at, " \t\r\n");
}

static bool json_take(char wanted) {
  json_space();
  bool found = *json_at == wanted;
  json_at += found;
  return found;
}

static char *json_text(void) {
  if (!json_take('"'))
    json_fail("no text");
  char *text = malloc(strlen(json_at) + 1), *end = text;
  while (*json_at != '"') {
    if (*json_at == '\0')
      json_fail("text without end");
    /* The vectors have no other escapes than of single characters. */
    json_at += *json_at == '\\';
    *end++ = *json_at++;
  }
  json_at++;
  *end = '\0';
  return realloc(text, end - text + 1);
}

static struct json *json_value(void);

static void json_items(struct json *value, char close) {
  struct json **last = &value->first;
  while (!json_take(close)) {
    char *name = NULL;
    if (value->kind == OBJECT) {
      name = json_text();
      if (!json_take(':'))
        json_fail("no colon");
    }
    *last = json_value();
    (*last)->name = name;
    last = &(*last)->next;
    if (!json_take(',')) {
      if (!json_take(close))
        json_fail("no end");
      return;
    }
  }
}

static bool json_word(const char *word) {
  size_t length = strlen(word);
  bool found = strncmp(json_at, word, length) == 0;
  json_at += found ? length : 0;
  return found;
}

static struct json *json_value(void) {
  struct json *value = calloc(1, sizeof *value);
  json_space();
  if (*json_at == '"') {
    value->kind = TEXT;
    value->text = json_text();
  } else if (json_take('{')) {
    value->kind = OBJECT;
    json_items(value, '}');
  } else if (json_take('[')) {
    value->kind = LIST;
    json_items(value, ']');
  } else if (json_word("true") || json_word("false")) {
    value->kind = BOOLEAN;
    value->is_true = json_at[-2] == 'u';
  } else if (!json_word("null")) {
    char *end;
    value->kind = NUMBER;
    value->number = strtoll(json_at, &end, 10);
    if (end == json_at)
      json_fail("no value");
    json_at = end;
  }
  return value;
}

static struct json *json_parse(const char *text) {
  json_at = text;
  return json_value();
}

/* Frees a value and what it contains. A program that reads a few vectors need not call it. */
static inline void json_free(struct json *value) {
  while (value) {
    struct json *next = value->next;
    json_free(value->first);
    free(value->text);
    free(value->name);
    free(value);
    value = next;
  }
}

/* The member of an object; NULL if it has none. */
static struct json *json_get(const struct json *object, const char *name) {
  struct json *member = object ? object->first : NULL;
  while (member && strcmp(member->name, name) != 0)
    member = member->next;
  return member;
}

/* The text of a member; an empty one if there is none. */
static const char *json_get_text(const struct json *object, const char *name) {
  const struct json *member = json_get(object, name);
  return member && member->kind == TEXT ? member->text : "";
}

static unsigned long long json_get_address(const struct json *object, const char *name) {
  return strtoull(json_get_text(object, name), NULL, 16);
}

#endif

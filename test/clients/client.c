/*
 * Uploads and downloads files with libcurl 7.84 or newer. Reads BASE_URL and ACCESS_TOKEN from the environment.
 *
 *     cc -o client client.c -lcurl
 *     ./client upload FILE NAME [ETAG]
 *     ./client download NAME FILE
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 5, MAX_WAIT_SECONDS = 60, PATH_BYTES = 4096, PROBLEM_BYTES = 4096 };

/* An answer. The requested content goes to a file. A problem document is kept here. */
struct answer {
  CURL *curl;
  FILE *content;
  const char *part, *tag; /* set for a download */
  char problem[PROBLEM_BYTES];
  size_t length;
};

static void die(const char *what) {
  perror(what);
  exit(1);
}

static FILE *open_file(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (file == NULL) die(path);
  return file;
}

static long status_of(CURL *curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

/* Opens the file that receives a download: empty for the whole content, for appending if the answer is a range. */
static void open_part(struct answer *answer) {
  long status = status_of(answer->curl);
  if (answer->part == NULL || answer->content != NULL || status >= 300) return;
  answer->content = open_file(answer->part, status == 206 ? "ab" : "wb");
  struct curl_header *etag;
  if (curl_easy_header(answer->curl, "ETag", 0, CURLH_HEADER, -1, &etag) == CURLHE_OK) {
    FILE *tag = open_file(answer->tag, "w");
    fputs(etag->value, tag);
    fclose(tag);
  }
}

static size_t save(char *bytes, size_t size, size_t count, void *to) {
  struct answer *answer = to;
  size_t length = size * count;
  if (status_of(answer->curl) < 300) {
    open_part(answer);
    return fwrite(bytes, 1, length, answer->content);
  }
  size_t room = PROBLEM_BYTES - 1 - answer->length;
  size_t kept = length < room ? length : room;
  memcpy(answer->problem + answer->length, bytes, kept);
  answer->length += kept;
  return length;
}

static void fail(const struct answer *answer) {
  fprintf(stderr, "%ld %s\n", status_of(answer->curl), answer->problem);
  /* Use the JSON library of your program. */
  const char *available = strstr(answer->problem, "\"available\":");
  if (strstr(answer->problem, "\"code\":\"capacity_exceeded\"") != NULL && available != NULL) {
    fprintf(stderr, "full: %lld bytes are left\n", atoll(available + strlen("\"available\":")));
  }
  exit(1);
}

static CURL *request(const char *name) {
  CURL *curl = curl_easy_init();
  if (curl == NULL) die("curl");
  char url[PATH_BYTES], cookie[PATH_BYTES];
  char *path = curl_easy_escape(curl, name, 0);
  for (char *slash = path; (slash = strstr(slash, "%2F")) != NULL;) {
    *slash = '/';
    memmove(slash + 1, slash + 3, strlen(slash + 3) + 1);
  }
  snprintf(url, sizeof url, "%s/users/me/repo/%s", getenv("BASE_URL"), path);
  curl_free(path);
  snprintf(cookie, sizeof cookie, "access_token=%s", getenv("ACCESS_TOKEN"));
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_COOKIE, cookie);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 300L);
  return curl;
}

/* Sends a request once. Returns -1 if it is done, or the number of seconds to wait before a retry, at most a minute. */
static long attempt(struct answer *answer, int is_last) {
  curl_easy_setopt(answer->curl, CURLOPT_WRITEFUNCTION, save);
  curl_easy_setopt(answer->curl, CURLOPT_WRITEDATA, answer);
  CURLcode code = curl_easy_perform(answer->curl);
  long status = status_of(answer->curl);
  if (code == CURLE_OK) open_part(answer); /* for an empty file */
  if (answer->part != NULL && answer->content != NULL && fclose(answer->content) != 0) die(answer->part);
  /* 416: an earlier run received every byte. */
  if (code == CURLE_OK && (status < 300 || status == 416)) return -1;
  int is_temporary = status == 408 || status == 429 || status == 503;
  if (status >= 300 && (is_last || !is_temporary)) fail(answer);
  if (is_last) {
    fprintf(stderr, "%s\n", curl_easy_strerror(code));
    exit(1);
  }
  curl_off_t seconds = 0;
  struct curl_header *told;
  if (curl_easy_header(answer->curl, "Retry-After", 0, CURLH_HEADER, -1, &told) != CURLHE_OK) return 1;
  curl_easy_getinfo(answer->curl, CURLINFO_RETRY_AFTER, &seconds);
  if (seconds > MAX_WAIT_SECONDS) fail(answer);
  return (long)seconds;
}

/* Creates or replaces the file with that name. With an etag, replaces only that version. */
static long upload(const char *path, const char *name, const char *etag, int is_last) {
  struct answer answer = {.curl = request(name), .content = stdout};
  curl_mime *form = curl_mime_init(answer.curl);
  curl_mimepart *part = curl_mime_addpart(form);
  curl_mime_name(part, "file");
  if (curl_mime_filedata(part, path) != CURLE_OK) die(path);
  curl_easy_setopt(answer.curl, CURLOPT_MIMEPOST, form);
  struct curl_slist *headers = NULL;
  if (etag != NULL) {
    char match[256];
    snprintf(match, sizeof match, "If-Match: \"%s\"", etag);
    headers = curl_slist_append(headers, match);
  }
  curl_easy_setopt(answer.curl, CURLOPT_HTTPHEADER, headers);
  long wait = attempt(&answer, is_last);
  curl_slist_free_all(headers);
  curl_mime_free(form);
  curl_easy_cleanup(answer.curl);
  return wait;
}

/* Downloads a file. Resumes the download of an earlier attempt or run that was cut off. */
static long download(const char *name, const char *part, const char *tag, int is_last) {
  struct answer answer = {.curl = request(name), .part = part, .tag = tag};
  struct curl_slist *headers = NULL;
  FILE *begun = fopen(part, "rb"), *known = fopen(tag, "r");
  char etag[256] = "", range[64], if_range[300];
  if (begun != NULL && known != NULL && fgets(etag, sizeof etag, known) != NULL) {
    fseek(begun, 0, SEEK_END);
    long have = ftell(begun);
    snprintf(range, sizeof range, "Range: bytes=%ld-", have);
    /* With If-Range, the service sends the whole file if it has changed. */
    snprintf(if_range, sizeof if_range, "If-Range: %s", etag);
    if (have > 0) headers = curl_slist_append(curl_slist_append(headers, range), if_range);
  }
  if (begun != NULL) fclose(begun);
  if (known != NULL) fclose(known);
  curl_easy_setopt(answer.curl, CURLOPT_HTTPHEADER, headers);
  long wait = attempt(&answer, is_last);
  curl_slist_free_all(headers);
  curl_easy_cleanup(answer.curl);
  return wait;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fputs("usage: client upload FILE NAME [ETAG] | client download NAME FILE\n", stderr);
    return 2;
  }
  curl_global_init(CURL_GLOBAL_ALL);
  int is_upload = strcmp(argv[1], "upload") == 0;
  char part[PATH_BYTES], tag[PATH_BYTES];
  snprintf(part, sizeof part, "%s.part", argv[3]);
  snprintf(tag, sizeof tag, "%s.etag", argv[3]);
  for (int left = TRIES - 1; left >= 0; left--) {
    long wait = is_upload ? upload(argv[2], argv[3], argc > 4 ? argv[4] : NULL, left == 0)
                          : download(argv[2], part, tag, left == 0);
    if (wait < 0) break;
    sleep((unsigned)wait);
  }
  /* Replace the target only when the download is complete. */
  if (!is_upload && (rename(part, argv[3]) != 0 || remove(tag) != 0)) die(argv[3]);
  return 0;
}

import { readFile } from 'node:fs/promises'
import { CLIENTS, type ClientProgram } from '../clients/programs.ts'

/** The page of clients, with the source files that the tests run. */
export async function clientsPage(): Promise<string> {
  const webPage = [
    WEB_PAGE,
    await codeOf('html', 'test/clients/page.html'),
    BACK_END,
    await codeOf('ts', 'test/clients/back-end.ts'),
  ]
  const sections = await Promise.all(CLIENTS.map(sectionOf))
  return `${[INTRODUCTION, ...webPage, PROGRAMS, ...sections].join('\n\n')}\n`
}

async function sectionOf({ title, language, file }: ClientProgram): Promise<string> {
  return `## ${title}\n\n${await codeOf(language, file)}`
}

async function codeOf(language: string, file: string): Promise<string> {
  return `\`\`\`${language}\n${await readFile(file, 'utf8')}\`\`\``
}

const INTRODUCTION = `# Clients

To write a client, copy one of these: [a web page](#a-web-page), or a [program](#programs) with [curl](#curl),
[Python](#python-with-requests), [TypeScript](#typescript-with-fetch), [Go](#go-with-nethttp),
[Java](#java-with-httpclient) or [C](#c-with-libcurl). They are the files of [test/clients](../test/clients). The
tests run them against the service over a network that loses connections. \`npm run docs\` writes this page.

[http-transcripts.md](http-transcripts.md) shows the bytes of requests and answers, and [api.md](api.md) is the
reference. [openapi.json](../api/openapi.json) is the input for code generators.

## What every client should do

- **Decide by the \`code\` of a refusal**, which is a problem document. To find a refusal in the log of the service,
  search for its \`request_id\`.
- **403 \`capacity_exceeded\`: tell the user.** Nothing has changed, and a retry fails too. \`available\` is the
  number of bytes that are free. The user has to delete files or add a device. Other codes with status 403 mean that
  the access token was refused, or that the user has too many files.
- **429 and 503: retry after \`Retry-After\` seconds**, not earlier. Also retry after 408 and after a lost connection.
  An upload is safe to repeat, even if the service stored it and the answer was lost: the file is the same afterwards.
- **Give up eventually.** The programs try five times, and stop at once if they would have to wait for more than a
  minute. A user who has replaced or deleted a lot may have to wait for the operator's \`GARBAGE_DELAY\`, which can be
  days. Show such a refusal to the user instead of waiting.
- **Overwrite conditionally** if several clients write the same file. Send the \`etag\` of the last answer as
  \`If-Match\`, and the upload replaces only that version. 412 \`precondition_failed\` means that another client was
  faster. After a lost connection it can also mean that the first attempt succeeded. Then \`sha256\` in the list, or
  \`Repr-Digest\` of a \`HEAD\`, is that of your content.
- **Resume a download** with \`Range\`, and with the \`ETag\` in \`If-Range\`. 206 is the rest. 200 is the whole of a
  file that has changed. 416 means that every byte had already been received. The programs keep the partial content as
  \`FILE.part\` and the \`ETag\` as \`FILE.etag\`. \`FILE\` itself stays as it was until the download is complete.
- **Percent-encode file names**, including \`?\`, \`#\`, \`%\` and spaces. A name is one segment of the path.
- **Stream large files.** The programs stream the form if their library can do so. \`PUT\` with the bare file
  ([transcript](http-transcripts.md#upload-without-a-form)) needs no form.`

const WEB_PAGE = `## A web page

This example is a page that signs the user in, uploads a file with progress, downloads a file and resumes if the
connection is lost, and says why an upload is refused, for example because the repository is full. Its back end sets
the cookie. To try it, start the service with the admin API:

    export ADMIN_TOKEN=$(openssl rand -hex 20); echo "export ADMIN_TOKEN=$ADMIN_TOKEN"
    BASE_CAPACITY=8MiB ALLOWED_ORIGINS=http://127.0.0.1:8000 npm start

The first command prints \`export ADMIN_TOKEN=...\`. Paste that line into a second shell, and start the back end there
with the Node.js that \`npm start\` has installed, since an older one does not run TypeScript:

    node_modules/.bin/node test/clients/back-end.ts

Open <http://127.0.0.1:8000> and sign in with a user id: 1 to 64 characters of
\`A-Z a-z 0-9 _ -\`, such as \`alice\`. Each user has 8 MiB here, so a second file of 5 MiB is refused. If port 3000, 3001
or 8000 is taken, change \`PORT\` and \`ADMIN_PORT\` of the service, \`PORT\` and \`ADMIN_URL\` of the back end,
\`ALLOWED_ORIGINS\`, and \`SERVICE\` in \`test/clients/page.html\`.

1. The user signs in to your product. The back end issues an access token with the [admin
   API](administration.md#the-admin-api) and sets it as the cookie \`access_token\`. No script on the page can read it
   (\`HttpOnly\`).
2. The browser sends the cookie with each request to the service: to another origin because of
   \`credentials: 'include'\` and \`withCredentials\`, which need [\`ALLOWED_ORIGINS\`](cors.md). If a proxy serves
   your page and the service under one origin, leave \`SERVICE\` empty, or set it to the \`BASE_PATH\`.
3. \`XMLHttpRequest\` uploads the file and reports progress. The browser sends a \`Content-Length\`, so the service
   immediately refuses a file that does not fit.
4. \`fetch\` downloads the file into memory and resumes after a lost connection. For a file that may not fit into
   memory, link to its URL instead: the answer is an attachment, and the browser saves it to the disk.`

const BACK_END = `This is the back end of the example. A production back end checks a password, uses HTTPS with the cookie
\`__Host-access_token\` (or \`access_token\` with a \`Domain\`, see [cors.md](cors.md)), and revokes the token when
the user signs out: \`DELETE /admin/users/{user_id}/access-tokens/{token_id}\`.`

const PROGRAMS = `## Programs

All programs take the same arguments. They read the address of the service and the access token from the environment:

    export BASE_URL=http://127.0.0.1:3000 ACCESS_TOKEN=crt_...
    client upload FILE NAME [ETAG]
    client download NAME FILE

A refusal is printed to the standard error with its status, and the exit code is 1.`

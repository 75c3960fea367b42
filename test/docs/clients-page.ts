import { readFile } from 'node:fs/promises'
import { CLIENTS, type ClientProgram } from '../clients/programs.ts'
import { blocksOf } from '../documents/pages.ts'
import { UPLOADERS } from '../clients/resumable/programs.ts'

/** The page of clients, with the source files that the tests run. */
export async function clientsPage(): Promise<string> {
  const webPage = [
    WEB_PAGE,
    await codeOf('html', 'test/clients/page.html'),
    BACK_END,
    await codeOf('ts', 'test/clients/back-end.ts'),
  ]
  const sections = await Promise.all(CLIENTS.map((client) => sectionOf('##', client)))
  const packages = [
    PACKAGE,
    await firstProgram('js', 'client/README.md'),
    PYTHON_PACKAGE,
    await firstProgram('python', 'clients/python/README.md'),
  ]
  const start = [INTRODUCTION, ...packages, RULES]
  const parts = [...start, ...webPage, PROGRAMS, ...sections, ...(await largeFiles())]
  return `${parts.join('\n\n')}\n`
}

async function largeFiles(): Promise<readonly string[]> {
  const page = await codeOf('html', 'test/clients/resumable/upload.html')
  const programs = await Promise.all(UPLOADERS.map((client) => sectionOf('###', client)))
  return [LARGE_FILES, UPLOAD_PAGE, page, ...programs]
}

/** The first program of a package's README. A test runs it. */
async function firstProgram(language: string, path: string): Promise<string> {
  const blocks = blocksOf({ path, text: await readFile(path, 'utf8') })
  const program = blocks.find((block) => block.language === language)
  return `\`\`\`${language}\n${program?.text}\`\`\``
}

async function sectionOf(level: string, { title, language, file }: ClientProgram) {
  return `${level} ${title}\n\n${await codeOf(language, file)}`
}

async function codeOf(language: string, file: string): Promise<string> {
  return `\`\`\`${language}\n${await readFile(file, 'utf8')}\`\`\``
}

const INTRODUCTION = `# Clients

Packages for [TypeScript and JavaScript](#typescript-and-javascript) and for [Python](#python) do all that this page
explains. To write a client in another language, or without a package, start from one of these examples: [a web
page](#a-web-page), or a [program](#programs) that uses [curl](#curl), [Python](#python-with-requests),
[Node.js](#nodejs-with-fetch), [Go](#go-with-nethttp), [Java](#java-with-httpclient) or [C](#c-with-libcurl). For files
that take minutes to send, use [resumable uploads](#large-files-that-survive-a-lost-connection) with
[tus-js-client](#tus-js-client-in-a-page), [tuspy](#tuspy), [tus-java-client](#tus-java-client) or
[curl](#tus-with-curl). The source files of all examples are in [test/clients](../test/clients). The tests run them
against the service over a network that loses connections. \`npm run docs\` generates this page.

[http-transcripts.md](http-transcripts.md) shows the bytes of requests and responses, and [api.md](api.md) is the
reference. Code generators can use [openapi.json](../api/openapi.json).`

const PACKAGE = `## TypeScript and JavaScript

[@cloud-repository/client](../client/README.md) runs in browsers, Node.js, Deno and Bun. It retries, continues uploads and
downloads after a lost connection or a crash, checks digests, and follows changes. Its page has a gallery for browsers.

    npm install @cloud-repository/client`

const PYTHON_PACKAGE = `## Python

[cloud-repository](../clients/python/README.md) does the same in Python 3.10 and newer, blocking or with asyncio. Its
page has programs for asyncio, for changes, and for conditional uploads.

    pip install cloud-repository`

const RULES = `## What every client should do

- **Branch on \`code\`.** Every refusal is a problem document with a \`code\`. To find a refusal in the service's log,
  search for its \`request_id\`.
- **403 \`capacity_exceeded\`: tell the user.** Nothing has changed, and a retry would fail too. \`available\` is the
  number of free bytes. The user has to delete files or add a device. Other codes with status 403 mean, for example,
  that the service refused the access token, or that the user has too many files.
- **429 and 503: retry after \`Retry-After\` seconds**, not earlier. Also retry after 408 and after a lost connection.
  You can safely repeat an upload, even if the service stored the file and only the response was lost: the file is the
  same afterwards.
- **Give up eventually.** The programs try five times, and stop immediately if they would have to wait for more than a
  minute. A user who has replaced or deleted a lot of data may have to wait for the operator's \`GARBAGE_DELAY\`, which
  can be days. Show such a refusal to the user instead of waiting.
- **Overwrite conditionally** if several clients write the same file. Send the \`etag\` of the last response as
  \`If-Match\`, so that the upload replaces only that version. 412 \`precondition_failed\` means that another client was
  faster. After a lost connection, it can also mean that your first attempt succeeded. In that case, \`sha256\` in the
  list, or \`Repr-Digest\` of a \`HEAD\`, is the digest of your content.
- **Resume a download** with \`Range\`, and send the \`ETag\` in \`If-Range\`. 206 means that the response is the rest
  of the file. 200 means that the file has changed and the response is the whole new file. 416 means that you had
  already received every byte. The programs keep the partial content in \`FILE.part\` and the \`ETag\` in \`FILE.etag\`.
  \`FILE\` itself stays unchanged until the download is complete.
- **Percent-encode file names**, including \`?\`, \`#\`, \`%\` and spaces. A name is one path segment.
- **Stream large files.** The programs stream the form if their library supports it. \`PUT\` with the raw file
  ([transcript](http-transcripts.md#upload-without-a-form)) needs no form.`

const WEB_PAGE = `## A web page

This example page signs the user in, lists the user's files, uploads a file with progress, and downloads a file. It
resumes a download if the connection is lost, and tells the user why an upload was refused, for example because the
repository is full. The back end of the example sets the cookie. To try it, start the service with the admin API:

    export ADMIN_TOKEN=$(openssl rand -hex 20); echo "export ADMIN_TOKEN=$ADMIN_TOKEN"
    BASE_CAPACITY=8MiB ALLOWED_ORIGINS=http://127.0.0.1:8000 npm start

The first command prints \`export ADMIN_TOKEN=...\`. Paste that line into a second shell, and start the back end there.
Use the Node.js that \`npm start\` has installed, because older versions do not run TypeScript:

    node_modules/.bin/node test/clients/back-end.ts

Open <http://127.0.0.1:8000> and sign in with a user id such as \`alice\`. A user id has 1 to 64 characters from
\`A-Z a-z 0-9 _ -\`. Each user has 8 MiB here, so the service refuses a second file of 5 MiB. If port 3000, 3001 or 8000
is in use, change \`PORT\` and \`ADMIN_PORT\` of the service, \`PORT\` and \`ADMIN_URL\` of the back end,
\`ALLOWED_ORIGINS\`, and \`SERVICE\` in \`test/clients/page.html\`.

The example works like this:

1. The user signs in to your product. The back end issues an access token with the [admin
   API](administration.md#the-admin-api) and sets it as the cookie \`access_token\`. No script on the page can read it
   (\`HttpOnly\`).
2. The browser sends the cookie with each request to the service. The service has a different origin than the page, so
   this requires \`credentials: 'include'\` or \`withCredentials\` on the page, and [\`ALLOWED_ORIGINS\`](cors.md) on
   the service. If a proxy serves your page and the service under one origin, set \`SERVICE\` to the
   \`BASE_PATH\`, or leave it empty if there is none.
3. \`XMLHttpRequest\` uploads the file and reports progress. The browser sends a \`Content-Length\`, so the service
   immediately refuses a file that does not fit.
4. \`fetch\` downloads the file into memory and resumes after a lost connection. For a file that may not fit into
   memory, link to its URL instead: the response is an attachment, and the browser saves it to disk.
5. The page requests the list of files, 1,000 at a time, until \`next_cursor\` is \`null\`.`

const BACK_END = `This is the back end of the example. A production back end also has to do the following:

- Check a password.
- Use HTTPS and the cookie \`__Host-access_token\`, or \`access_token\` with a \`Domain\` (see [cors.md](cors.md)).
- Revoke the token when the user signs out: \`DELETE /admin/users/{user_id}/access-tokens/{token_id}\`.`

const PROGRAMS = `## Programs

The first lines of each program say how to save and run it. All programs take the same arguments. They read the address
of the service and the access token from the environment:

    export BASE_URL=http://127.0.0.1:3000 ACCESS_TOKEN=crt_...
    client upload FILE NAME [ETAG]
    client download NAME FILE

If the service refuses a request, the program prints the status and the response to standard error and exits with 1.`

const LARGE_FILES = `## Large files that survive a lost connection

After a lost connection, an upload with \`POST\` or \`PUT\` starts again at the first byte. A resumable upload continues
after the last byte that the service has stored, even hours later, from another program, or on another instance of the
service. The service implements [tus 1.0](https://tus.io/protocols/resumable-upload), so you can use any tus client. The
endpoint is \`/users/me/uploads\`. In the tests, each of the following clients sends 50 MiB while every connection
breaks after a few hundred KiB.

- **The metadata key \`filename\` is the name of the file.** The optional key \`visibility\` is \`private\`, \`users\`
  or \`public\`.
- **Send the access token with every request**, in the cookie \`access_token\`.
- **The creation reserves the space.** The service refuses it like any other upload, for example with 403
  \`capacity_exceeded\`, before the client sends a byte of the file. Send \`If-Match\`, \`If-None-Match\` and
  \`Repr-Digest\` with the creation. They must also hold when the file is complete.
- **The service stores the file when all its bytes have arrived.** Only then does \`HEAD\` return an offset equal to the
  length. Until then, an existing file with this name stays unchanged.
- **409, 423, 429 and 5xx are temporary.** Ask for the offset with \`HEAD\`, and continue there. 404 and 410 mean that
  the upload has ended: create a new one. 412 means that a precondition of the creation no longer holds: cancel it. As
  everywhere, each problem document has a \`code\`.
- **Do not split a file without need.** One request for all bytes is the fastest. If a proxy limits the size of
  requests, set the chunk size of the client below that limit.
- **Only one request at a time adds bytes to an upload.** A newer \`PATCH\` or \`HEAD\` ends the older one. The service
  does not support \`parallelUploads\` of tus-js-client.
- **The service keeps an interrupted upload** for 24 hours, or for the operator's
  [\`UPLOAD_LIFETIME\`](configuration.md#unfinished-uploads), and its space stays reserved for that time. It keeps an
  upload without any bytes for 10 minutes. \`GET /users/me/uploads\` lists the user's unfinished uploads, and \`DELETE\`
  cancels one.

The programs take the same arguments, and read \`BASE_URL\` and \`ACCESS_TOKEN\` as [above](#programs):

    upload FILE NAME

All but the Java program keep the URL of the upload in \`FILE.upload\`. If one of them is killed, it or another of them
continues the upload when it is run again with the same arguments.`

const UPLOAD_PAGE = `### tus-js-client in a page

Serve \`dist/tus.min.js\` of the npm package next to this page, or import the package if you use a bundler. The user
signs in as on the [page above](#a-web-page).`

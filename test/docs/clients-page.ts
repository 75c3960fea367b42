import { readFile } from 'node:fs/promises'
import { CLIENTS, type ClientProgram } from '../clients/programs.ts'

/** The page of clients, whose code is that of the files that the tests run. */
export async function clientsPage(): Promise<string> {
  const sections = await Promise.all(CLIENTS.map(sectionOf))
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`
}

async function sectionOf({ title, language, file }: ClientProgram): Promise<string> {
  const code = await readFile(file, 'utf8')
  return `## ${title}\n\n\`\`\`${language}\n${code}\`\`\``
}

const INTRODUCTION = `# Clients

Small programs that upload and download, to copy from. They are the files of [test/clients](../test/clients), which the tests
run against the service over a network that loses connections. \`npm run docs\` writes this page. All take the same
arguments, and the address and the access token from the environment:

    export BASE_URL=http://127.0.0.1:3000 ACCESS_TOKEN=crt_...
    client upload FILE NAME [ETAG]
    client download NAME FILE

[http-transcripts.md](http-transcripts.md) shows what goes over the wire, and [openapi.json](../api/openapi.json) is for
generators of clients.

## What they do, and yours should

- **A refusal** is a problem document: go by its \`code\`. It is written to the standard error with its status, and its
  \`request_id\` finds it in the log of the service.
- **403 \`capacity_exceeded\`**: nothing has changed, and the same upload does not work the next time either. \`available\` says
  how many bytes are left; the user deletes something, or adds a device. The other 403s are of the token, and of the number of
  files.
- **429 and 503** come with \`Retry-After\`: the same request works later, and no sooner than after so many seconds. So may one
  after 408, or whose connection was lost. An upload can be sent again safely, even one that had been taken without the
  client's hearing of it: the file is the same afterwards. The programs try five times, and give up at once when they would have
  to wait for more than a minute: a user who has replaced or deleted much may have to wait for as long as the operator's \`GARBAGE_DELAY\`,
  which can be days. Show such a refusal instead of waiting.
- **Overwriting** is an upload to a name that is there. With the \`etag\` of the last reply, which goes into \`If-Match\`, it writes over
  that version alone: 412 \`precondition_failed\` says that someone else was faster. After a lost connection it can also say that the
  first try did it; then \`sha256\` in the list, or \`Repr-Digest\` of a \`HEAD\`, is that of what was sent.
- **A download that was cut off** goes on with \`Range\`, and with the \`ETag\` in \`If-Range\`: 206 is the rest, 200 the whole of a file
  that is another by now, and 416 says that all had come. Both are kept beside the file until it is complete, as \`FILE.part\` and
  \`FILE.etag\`; what was at \`FILE\` stays until then.
- **Names** are one segment of the path, percent-encoded: also \`?\`, \`#\`, \`%\` and spaces.
- A form is streamed where the library does so, so a large file needs no memory; \`PUT\` with the bare file
  ([transcript](http-transcripts.md#upload-without-a-form)) spares the form where nobody needs one.`

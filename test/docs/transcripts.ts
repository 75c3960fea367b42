import { Clock } from './clock.ts'
import { createPlaceholders } from './placeholders.ts'
import { Recorder } from './recorder.ts'
import { openRecordedService } from './recorded-service.ts'

const FILE = '/users/me/repo/diary.txt'
const WRONG = `crt_${'A'.repeat(43)}`
const MONDAY = 'Monday. It rains, and the harbour is empty but for two boats.\n'
const TUESDAY = 'Tuesday. The sun is out, the boats are gone, and so is the dog.\n'

/** The page of transcripts, recorded from a service of its own. */
export async function recordTranscripts(): Promise<string> {
  const clock = new Clock()
  await using service = await openRecordedService(clock)
  const placeholders = createPlaceholders(clock)
  const token = await service.createUser('alice')
  placeholders.hide(token, 'alice')
  const recorder = new Recorder({ port: service.port, clock, placeholders })
  recorder.text(INTRODUCTION)
  const stage = { recorder, cookie: { Cookie: `access_token=${token}` } }
  await uploads(stage)
  await refusals(stage)
  await downloads(stage)
  const etag = await resuming(stage)
  await conditions(stage, etag)
  await theRest(stage)
  await resumableUpload(stage)
  await guessing(recorder)
  return recorder.toString()
}

const INTRODUCTION = `# Requests and responses over the wire

This page shows the exact bytes of requests and responses. A test records them from the service through a plain socket
and fails if a response differs. \`npm run docs\` records them again. Header lines end with CR LF. Placeholders of the
same length replace the values that differ between runs: the access token, request ids, versions (which are also the
entity tags), times, and the seconds to wait. Alice's repository has a capacity of 1,500 bytes, of which a device adds
500.

[clients.md](clients.md) has programs in several languages that send these requests.
[openapi.json](../api/openapi.json) lists every possible response, and [api.md](api.md) has the rules.`

interface Stage {
  readonly recorder: Recorder
  readonly cookie: Readonly<Record<string, string>>
}

async function uploads({ recorder, cookie }: Stage): Promise<void> {
  recorder.heading('Upload')
  recorder.text(
    'A form has one part named `file`. The parameter `filename` is required, but its value is ignored:',
  )
  await recorder.exchange({ line: `POST ${FILE}`, ...form(cookie, MONDAY), status: 200 })
  recorder.heading('Upload without a form')
  recorder.text(
    'The body is the file. `If-None-Match: *` never replaces a file, and `Repr-Digest` checks its SHA-256:',
  )
  await recorder.exchange({
    line: 'PUT /users/me/repo/r%C3%A9sum%C3%A9.txt',
    headers: {
      ...cookie,
      'Content-Length': '5',
      'If-None-Match': '*',
      'Repr-Digest': 'sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:',
    },
    body: 'hello',
    status: 200,
  })
  recorder.heading('Overwrite')
  recorder.text(
    'An upload to the name of an existing file replaces it. `replaced` is `true`, and `created_at` does not change:',
  )
  await recorder.exchange({ line: `POST ${FILE}`, ...form(cookie, TUESDAY), status: 200 })
}

async function refusals({ recorder, cookie }: Stage): Promise<void> {
  recorder.heading('The repository is full')
  recorder.text(
    'With `Expect: 100-continue`, the service sends this response before the client sends the body. Without it, the ' +
      'response is the same.',
  )
  await recorder.exchange({
    line: 'PUT /users/me/repo/film.mp4',
    headers: { ...cookie, 'Content-Length': '2000', Expect: '100-continue' },
    status: 403,
  })
  recorder.heading('A wrong token and no token')
  recorder.text('The status is the same as for a full repository, but the `code` differs.')
  const wrong = { Cookie: `access_token=${WRONG}` }
  await recorder.exchange({ line: `GET ${FILE}`, headers: wrong, status: 403 })
  await recorder.exchange({ line: `POST ${FILE}`, ...form({}, MONDAY), status: 403 })
  recorder.heading('A malformed form')
  recorder.text('No part has the name `file`, so the service refuses the form. Nothing changes.')
  const { headers, body } = form(cookie, MONDAY)
  await recorder.exchange({
    line: `POST ${FILE}`,
    headers,
    body: body.replace('name="file"', 'name="f1le"'),
    status: 400,
  })
}

async function downloads({ recorder, cookie }: Stage): Promise<void> {
  recorder.heading('Download')
  const { headers } = await recorder.exchange({ line: `GET ${FILE}`, headers: cookie, status: 200 })
  recorder.text('If the client already has the file:')
  const known = { ...cookie, 'If-None-Match': headers['etag'] ?? '' }
  await recorder.exchange({ line: `GET ${FILE}`, headers: known, status: 304 })
  recorder.text('If the file does not exist, or Alice may not download it:')
  await recorder.exchange({ line: 'GET /users/bob/repo/plans.txt', headers: cookie, status: 404 })
  recorder.heading('Range')
  const part = { ...cookie, Range: 'bytes=9-22' }
  await recorder.exchange({ line: `GET ${FILE}`, headers: part, status: 206 })
  recorder.text('If the range begins beyond the end:')
  const beyond = { ...cookie, Range: 'bytes=64-' }
  await recorder.exchange({ line: `GET ${FILE}`, headers: beyond, status: 416 })
}

/** Resolves with the entity tag of the file afterwards. */
async function resuming({ recorder, cookie }: Stage): Promise<string> {
  recorder.heading('Resume a download')
  recorder.text('The connection is lost after 24 of 64 bytes:')
  const cut = { line: `GET ${FILE}`, headers: cookie, status: 200, cutAfter: 24 }
  const { headers } = await recorder.exchange(cut)
  recorder.text('The client requests the rest of that version:')
  const { etag = '' } = headers
  const rest = { ...cookie, Range: 'bytes=24-', 'If-Range': etag }
  await recorder.exchange({ line: `GET ${FILE}`, headers: rest, status: 206 })
  recorder.text(
    'If the file has changed since, the response to the same request is the whole new file:',
  )
  const next = await overwrite({ recorder, cookie }, { etag, content: MONDAY })
  await recorder.exchange({ line: `GET ${FILE}`, headers: rest, status: 200 })
  recorder.text('With `If-Match`, the client gets an error instead:')
  const match = { ...cookie, Range: 'bytes=24-', 'If-Match': etag }
  await recorder.exchange({ line: `GET ${FILE}`, headers: match, status: 412 })
  return next
}

async function conditions({ recorder, cookie }: Stage, etag: string): Promise<void> {
  recorder.heading('Conditional write')
  recorder.text(
    'With `If-Match`, an upload replaces only the version that the client knows. No other change is lost:',
  )
  await overwrite({ recorder, cookie }, { etag, content: TUESDAY })
  recorder.text(
    'A second upload with the same `If-Match` fails because that version has been replaced:',
  )
  const known = form({ ...cookie, 'If-Match': etag }, MONDAY)
  await recorder.exchange({ line: `POST ${FILE}`, ...known, status: 412 })
  recorder.text('With `If-None-Match: *`, an upload never replaces a file:')
  const create = form({ ...cookie, 'If-None-Match': '*' }, MONDAY)
  await recorder.exchange({ line: `POST ${FILE}`, ...create, status: 412 })
}

async function theRest({ recorder, cookie }: Stage): Promise<void> {
  recorder.heading('List')
  const list = 'GET /users/me/repo?order=-size&limit=1'
  await recorder.exchange({ line: list, headers: cookie, status: 200 })
  recorder.heading('Capacity')
  await recorder.exchange({ line: 'GET /users/me/capacity', headers: cookie, status: 200 })
  recorder.heading('Rename and publish')
  const body = '{"name":"open diary.txt","visibility":"public"}'
  const json = { ...cookie, 'Content-Type': 'application/json', 'Content-Length': `${body.length}` }
  await recorder.exchange({ line: `PATCH ${FILE}`, headers: json, body, status: 200 })
  recorder.text('Now everyone can download it:')
  await recorder.exchange({ line: 'GET /users/alice/repo/open%20diary.txt', status: 200 })
  recorder.heading('Delete')
  const line = 'DELETE /users/me/repo/open%20diary.txt'
  await recorder.exchange({ line, headers: cookie, status: 204 })
}

async function resumableUpload({ recorder, cookie }: Stage): Promise<void> {
  recorder.heading('Resume an upload')
  recorder.text(
    'The creation has the length, and the name in base64. `Location` is the path of the upload:',
  )
  const tus = { ...cookie, 'Tus-Resumable': '1.0.0' }
  const length = { 'Upload-Length': `${MONDAY.length}`, 'Content-Length': '0' }
  const name = { 'Upload-Metadata': 'filename bW9uZGF5LnR4dA==' }
  const line = 'POST /users/me/uploads'
  const created = await recorder.exchange({
    line,
    headers: { ...tus, ...length, ...name },
    status: 201,
  })
  const path = created.headers['location'] ?? ''
  const append = (offset: number) => ({
    line: `PATCH ${path}`,
    headers: {
      ...tus,
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': `${offset}`,
      'Content-Length': `${MONDAY.length - offset}`,
    },
    body: MONDAY.slice(offset),
  })
  recorder.text(`The connection is lost after 24 of ${MONDAY.length} bytes:`)
  await recorder.cutOff(append(0), 24)
  recorder.text(
    'The client asks for the offset, and sends the rest. With the last response, the file is stored:',
  )
  await recorder.exchange({
    line: `HEAD ${path}`,
    headers: { ...tus, Connection: 'close' },
    status: 200,
  })
  await recorder.exchange({ ...append(24), status: 204 })
}

async function guessing(recorder: Recorder): Promise<void> {
  recorder.heading('Too many wrong tokens')
  recorder.text(
    'These requests send two more wrong tokens. `Retry-After` is in seconds. Responses with status 503 also have it.',
  )
  const headers = { Cookie: `access_token=${WRONG}` }
  await recorder.exchange({ line: `GET ${FILE}`, headers, status: 403 })
  await recorder.exchange({ line: `GET ${FILE}`, headers, status: 429 })
}

/** Replaces the version with that entity tag, and resolves with the new one. */
async function overwrite(
  { recorder, cookie }: Stage,
  { etag, content }: { readonly etag: string; readonly content: string },
): Promise<string> {
  const write = form({ ...cookie, 'If-Match': etag }, content)
  const { body } = await recorder.exchange({ line: `POST ${FILE}`, ...write, status: 200 })
  const reply = JSON.parse(body.toString()) as { readonly etag: string }
  return `"${reply.etag}"`
}

const BOUNDARY = 'a-text-that-the-file-does-not-have'

function form(headers: Readonly<Record<string, string>>, content: string) {
  const body = [
    `--${BOUNDARY}`,
    'Content-Disposition: form-data; name="file"; filename="diary.txt"',
    'Content-Type: text/plain',
    '',
    content,
    `--${BOUNDARY}--`,
    '',
  ].join('\r\n')
  const type = `multipart/form-data; boundary=${BOUNDARY}`
  const length = `${Buffer.byteLength(body)}`
  return { headers: { ...headers, 'Content-Type': type, 'Content-Length': length }, body }
}

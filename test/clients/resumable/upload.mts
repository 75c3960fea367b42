// Uploads a file with tus-js-client, and resumes after a lost connection. Reads BASE_URL and ACCESS_TOKEN from the
// environment.
//   npm install tus-js-client
//   node upload.mts FILE NAME      (Node.js 24 or newer)
// Keeps the URL of the upload in FILE.upload, so that a later run resumes what this one could not finish.
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Upload } from 'tus-js-client'

const { BASE_URL, ACCESS_TOKEN } = process.env
const [file = '', name = ''] = process.argv.slice(2)
const kept = `${file}.upload`

const upload = new Upload(createReadStream(file), {
  endpoint: `${BASE_URL}/users/me/uploads`,
  // If this upload has ended, the client creates a new one.
  uploadUrl: existsSync(kept) ? readFileSync(kept, 'utf8').trim() : null,
  headers: { Cookie: `access_token=${ACCESS_TOKEN}` },
  metadata: { filename: name },
  // In milliseconds. The list starts over whenever bytes have arrived.
  retryDelays: [0, 1000, 3000, 5000, 10_000, 20_000],
  onUploadUrlAvailable() {
    writeFileSync(kept, `${upload.url}\n`)
  },
  onSuccess() {
    rmSync(kept, { force: true })
  },
  onError(error) {
    console.error(error.message)
    process.exitCode = 1
  },
})
upload.start()

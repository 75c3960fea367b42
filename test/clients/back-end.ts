// The back end of a product. Serves page.html, and signs users in to the product and to Cloud Repository together.
//   ADMIN_TOKEN=... node back-end.ts (Node.js 24 or newer)
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'

const { ADMIN_URL = 'http://127.0.0.1:3001', ADMIN_TOKEN, PORT = '8000' } = process.env
const SESSION_SECONDS = 12 * 3600

/** Creates the user if necessary, and issues an access token that lasts as long as the session of the product. */
async function issueAccessToken(userId: string): Promise<string> {
  const user = `/admin/users/${encodeURIComponent(userId)}`
  await admin('PUT', user)
  const terms = { label: 'browser', expires_in: SESSION_SECONDS }
  const { access_token } = await admin('POST', `${user}/access-tokens`, terms)
  return String(access_token)
}

async function admin(method: string, path: string, body?: object) {
  const headers: Record<string, string> = { authorization: `Bearer ${ADMIN_TOKEN}` }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(ADMIN_URL + path, { method, headers, ...content })
  if (!response.ok) throw new Refusal(response.status, await response.text())
  return (await response.json()) as Readonly<Record<string, unknown>>
}

/** The admin API refused a request, with this problem document. */
class Refusal extends Error {
  readonly status: number
  readonly problem: string

  constructor(status: number, problem: string) {
    super(`${status} ${problem}`)
    this.status = status
    this.problem = problem
  }
}

/** Replace this with the sign-in of your product, which checks a password. */
async function signIn(request: IncomingMessage): Promise<string> {
  const { user_id: userId } = (await json(request)) as { readonly user_id: string }
  return userId
}

async function answer(request: IncomingMessage) {
  if (request.method !== 'POST' || request.url !== '/login') {
    const page = await readFile(new URL('page.html', import.meta.url))
    return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: page }
  }
  const token = await issueAccessToken(await signIn(request))
  // With HTTPS: __Host-access_token=...; Path=/; Secure; and the rest.
  const cookie = `access_token=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_SECONDS}`
  return { status: 204, headers: { 'set-cookie': cookie }, body: '' }
}

const server = createServer((request, response) => {
  answer(request).then(
    ({ status, headers, body }) => response.writeHead(status, headers).end(body),
    (error: unknown) => {
      if (error instanceof Refusal && error.status === 400) {
        // Something the user entered is invalid. The page shows the detail of the problem document.
        response.writeHead(400, { 'content-type': 'application/problem+json' }).end(error.problem)
        return
      }
      console.error(error)
      response.writeHead(500).end()
    },
  )
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${PORT}`))

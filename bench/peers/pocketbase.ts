import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import {
  answers,
  createFolder,
  freePort,
  runServer,
} from '../../test/support/servers/local-server.ts'
import { FORM_TYPE, formOf } from '../setup/form.ts'
import { runProgram } from '../setup/run-program.ts'
import { type Peer, request, type RunningPeer } from './peer.ts'

/**
 * A record with one file for each upload, created by a user with an access token, or by anyone. Downloads need and check
 * no token, as is its default.
 */
export const pocketbase: Peer = {
  title: 'PocketBase',
  kind: 'form',
  async start(program, { opened, isOpen }) {
    const folder = await createFolder('bench-pocketbase')
    opened.defer(() => folder.remove())
    const account = { email: 'bench@example.org', password: randomBytes(16).toString('hex') }
    // It also writes beside this folder.
    const place = ['--dir', join(folder.path, 'data')]
    const create = ['superuser', 'upsert', account.email, account.password, ...place]
    await runProgram(program, create, CREATE_TIMEOUT_MS)
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const server = await runServer({
      program,
      args: serveArgs(port, place),
      cwd: folder.path,
      isReady: () => answers(`${origin}/api/health`),
      stopSignal: 'SIGTERM',
    })
    opened.defer(() => server.stop())
    return describe({ pid: server.pid, origin, token: await prepare(origin, { account, isOpen }) })
  },
}

/**
 * Below the temporary folder, GOCACHE or `~/.cache`, PocketBase switches its development mode on by itself, and then
 * prints every SQL statement.
 */
export function serveArgs(port: number, place: readonly string[]): readonly string[] {
  return ['serve', '--dev=false', '--http', `127.0.0.1:${port}`, ...place]
}

const CREATE_TIMEOUT_MS = 60_000

interface Account {
  readonly email: string
  readonly password: string
}

/** Creates the collection and a user, and returns the user's token if uploads need it. */
async function prepare(
  origin: string,
  { account, isOpen }: { readonly account: Account; readonly isOpen: boolean },
): Promise<string | undefined> {
  const collections = `${origin}/api/collections`
  const logIn = async (collection: string): Promise<string> => {
    const { email: identity, password } = account
    const url = `${collections}/${collection}/auth-with-password`
    const text = await request(url, jsonOf({ identity, password }))
    return (JSON.parse(text) as { readonly token: string }).token
  }
  const Authorization = await logIn('_superusers')
  const rule = isOpen ? '' : '@request.auth.id != ""'
  const fields = [{ name: 'file', type: 'file', maxSelect: 1, maxSize: 2 ** 33 }]
  const rules = { createRule: rule, listRule: rule, viewRule: rule }
  const collection = { name: COLLECTION, type: 'base', fields, ...rules }
  await request(collections, jsonOf(collection, { Authorization }))
  if (isOpen) return undefined
  const user = { ...account, passwordConfirm: account.password, verified: true }
  await request(`${collections}/users/records`, jsonOf(user, { Authorization }))
  return await logIn('users')
}

const COLLECTION = 'files'

function jsonOf(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }
}

interface FileRecord {
  readonly id: string
  readonly file: string
}

function describe({
  pid,
  origin,
  token,
}: Pick<RunningPeer, 'pid' | 'origin'> & { readonly token: string | undefined }): RunningPeer {
  const records = `/api/collections/${COLLECTION}/records`
  const headers: Readonly<Record<string, string>> =
    token === undefined ? {} : { Authorization: token }
  const pathOf = ({ id, file }: FileRecord): string => `/api/files/${COLLECTION}/${id}/${file}`
  return {
    pid,
    origin,
    upload: (content) => ({
      method: 'POST',
      headers: { ...headers, 'Content-Type': FORM_TYPE },
      body: formOf(content),
    }),
    uploadPath: () => records,
    async store(fileName, content) {
      const body = new FormData()
      body.append('file', new Blob([new Uint8Array(content)]), fileName)
      const text = await request(`${origin}${records}`, { method: 'POST', headers, body })
      return pathOf(JSON.parse(text) as FileRecord)
    },
    async listPaths(count) {
      const text = await request(`${origin}${records}?perPage=${count}`, { headers })
      return (JSON.parse(text) as { readonly items: readonly FileRecord[] }).items.map(pathOf)
    },
  }
}

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fastify } from 'fastify'
import { expect } from 'vitest'
import { runCli } from '../../../src/cli/cli.ts'
import { createCopies } from '../../../src/compose/copies.ts'
import { openService } from '../../../src/compose/compose.ts'
import { readConfig } from '../../../src/config/config.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { serve } from '../../../src/serve.ts'
import { createFolder } from '../../support/servers/local-server.ts'
import { digest, never } from '../../support/objects.ts'

type Settings = Readonly<Record<string, string>>

export interface Ran {
  readonly code: number
  /** The JSON documents that it printed, the result last. */
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly err: string
}

/** A folder for a service and its backups, and what tests do with them. */
export async function openBed() {
  const folder = await createFolder('backup')
  const opened = new AsyncDisposableStack()
  opened.defer(() => folder.remove())
  const place = (name: string): string => join(folder.path, name)

  /** A command in this process, with `--json`. */
  async function run(args: string, settings: Settings = { DATA_DIR: place('live') }): Promise<Ran> {
    const [out, err]: [string[], string[]] = [[], []]
    const code = await runCli({
      args: [...args.split(' '), '--json'],
      open: () => Promise.reject(new Error('It opens no service.')),
      print: (line) => out.push(...line.split('\n')),
      printError: (line) => err.push(line),
      interruption: never,
      copies: createCopies(settings),
    })
    const rows = out.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    return { code, rows, err: err.join('\n') }
  }

  /** A service with the user `ada`. */
  async function start(settings: Settings = {}) {
    const environment = { DATA_DIR: place('live'), PORT: '0', WEB_PAGE: 'false', ...settings }
    const config = readConfig(environment)
    const service = await openService(config)
    const server = await serve({ config, service, logger: fastify().log })
    const stop = async (): Promise<void> => {
      await server.stop()
      await service.close()
    }
    opened.defer(stop)
    const userId = parseUserId('ada')
    await service.users.create(userId)
    const issued = { userId, label: '', expiresInSeconds: undefined }
    const { secret } = await service.accessTokens.issue(issued)
    const cookie = `access_token=${secret}`
    const send = async (method: string, name: string, body?: Uint8Array<ArrayBuffer>) => {
      const target = `${server.url}/users/me/repo/${name}`
      return await fetch(target, { method, headers: { cookie }, body: body ?? null })
    }
    /** Stores random content, and returns its digest. */
    async function put(name: string, bytes: number): Promise<string> {
      const content = randomBytes(bytes)
      expect((await send('PUT', name, content)).status).toBe(200)
      return digest(content)
    }
    async function get(name: string): Promise<string | number> {
      const reply = await send('GET', name)
      const body = new Uint8Array(await reply.arrayBuffer())
      return reply.status === 200 ? digest(body) : reply.status
    }
    return { url: server.url, service, cookie, send, put, get, stop }
  }

  return { place, run, start, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

export type Bed = Awaited<ReturnType<typeof openBed>>

/** Flips a bit of the byte, in the middle by default; returns what undoes it. */
export async function flip(file: string, at?: number): Promise<() => Promise<void>> {
  const content = await readFile(file)
  const flipped = Buffer.from(content)
  const offset = at ?? Math.floor(content.length / 2)
  flipped.writeUInt8(flipped.readUInt8(offset) ^ 1, offset)
  await writeFile(file, flipped)
  return () => writeFile(file, content)
}

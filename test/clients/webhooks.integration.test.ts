import { type ChildProcess, spawn } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWebhookSender } from '../../src/webhooks/sender.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/servers/local-server.ts'
import { WEBHOOK_SECRET } from '../support/servers/webhook-receiver.ts'

const RECEIVERS = [
  { file: 'receiver.mts', program: process.execPath },
  { file: 'receiver.py', program: 'python3' },
] as const

const NEVER = new AbortController().signal
const EVENT = { id: 'msg_1', body: '{"type":"file.created","data":{"name":"ä b"}}' }
const OLD_MS = 301_000

describe.each(RECEIVERS)('the example $file', ({ file, program }) => {
  let folder: string
  let receiver: ChildProcess
  let url: string
  let printed = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'receiver-'))
    await copyFile(join('docs/examples', file), join(folder, file))
    await symlink(resolve('node_modules'), join(folder, 'node_modules'))
    // As `npm init -y` makes it.
    await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }')
    const PORT = String(await freePort())
    url = `http://127.0.0.1:${PORT}/hooks`
    const env = { ...process.env, PORT, WEBHOOK_SECRET }
    receiver = spawn(program, [join(folder, file)], {
      env,
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    receiver.stdout?.on('data', (text: Buffer) => (printed += text.toString()))
    await eventually(async () => {
      if ((await send([key()])) === 'not reached') throw new Error('The receiver does not start.')
    })
  })
  afterAll(async () => {
    receiver.kill()
    await rm(folder, { recursive: true })
  })

  const key = (byte = 7) => Buffer.alloc(32, byte)

  async function send(secrets: readonly Buffer[]): Promise<string> {
    const delivery = await createWebhookSender({ url, secrets }).send(EVENT, NEVER)
    if (delivery.isDelivered) return 'delivered'
    return delivery.reason.includes('not reached') ? 'not reached' : delivery.reason
  }

  it('prints what was signed with its secret, also while that is replaced', async () => {
    printed = ''
    expect(await send([key(8), key()])).toBe('delivered')
    await expect.poll(() => printed.trim()).toBeTruthy()
    // The attempts at its start may have printed before.
    expect(JSON.parse(printed.trim().split('\n').at(-1) ?? '')).toEqual(JSON.parse(EVENT.body))
  })

  it('refuses what was signed with another secret, or long ago', async () => {
    expect(await send([key(8)])).toBe('The receiver answered 400.')
    const { now } = Date
    Date.now = () => now() - OLD_MS
    try {
      expect(await send([key()])).toBe('The receiver answered 400.')
    } finally {
      Date.now = now
    }
  })
})

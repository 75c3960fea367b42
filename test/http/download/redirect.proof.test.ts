import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, it, vi } from 'vitest'
import { startProgram, temporaryFolder } from '../../support/service/program.ts'
import { issueCookie } from '../../support/service/running-service.ts'
import { redirectSettings } from '../../support/service/s3-service.ts'
import { s3Settings } from '../../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../../support/service/test-bucket.ts'
import { MIB } from '../fixture.ts'

const minio = inject('minio')

const DOWNLOADS = 200

it.skipIf(minio === undefined)(
  'the download of 1 GiB past the service takes it less than 5 ms of CPU time, by a URL that is dead after a minute',
  async () => {
    await using opened = new AsyncDisposableStack()
    const bucket = freshBucket(minio)
    opened.defer(() => removeBucket(bucket))
    const environment = {
      DATA_DIR: await temporaryFolder(opened),
      BASE_CAPACITY: '3GiB',
      ...s3Settings(bucket),
      ...redirectSettings(minio, { aboveBytes: 16 * MIB }),
    }
    const headers = { cookie: await issueCookie('alice', { environment, opened }) }
    const program = { args: ['serve'], environment, opened }
    const { process: service, output } = await startProgram(program)
    const listens = /listens at (http:[^"\s]+)/
    await vi.waitFor(() => expect(output()).toMatch(listens), { timeout: 60_000 })
    const file = `${listens.exec(output())?.[1]}/users/me/repo/film`

    const block = randomBytes(MIB)
    const expected = createHash('sha256')
    async function* content() {
      for (let at = 0; at < 1024; at++) {
        block.writeUint32BE(at)
        expected.update(block)
        yield Uint8Array.from(block)
      }
    }
    const init = { method: 'PUT', headers, body: content(), duplex: 'half' }
    expect((await fetch(file, init as unknown as RequestInit)).status).toBe(200)

    const redirect = () => fetch(file, { headers, redirect: 'manual' })
    await redirect()
    const before = await cpuMsOf(service.pid)
    for (let at = 0; at < DOWNLOADS; at++) expect((await redirect()).status).toBe(307)
    const cpuMs = ((await cpuMsOf(service.pid)) - before) / DOWNLOADS
    process.stdout.write(`A redirected download took ${cpuMs.toFixed(2)} ms of CPU time.\n`)
    expect(cpuMs).toBeLessThan(5)

    const url = (await redirect()).headers.get('location') ?? ''
    const signedAt = Date.now()
    const found = createHash('sha256')
    const whole = await fetch(url)
    for await (const chunk of whole.body as AsyncIterable<Uint8Array>) found.update(chunk)
    expect(found.digest('hex')).toBe(expected.digest('hex'))
    await sleep(signedAt + 50_000 - Date.now())
    expect((await fetch(url, { headers: { range: 'bytes=0-0' } })).status).toBe(206)
    await sleep(signedAt + 62_000 - Date.now())
    expect((await fetch(url, { headers: { range: 'bytes=0-0' } })).status).toBe(403)
  },
)

/** User and system time of a process (Linux), in steps of 10 ms. */
async function cpuMsOf(pid = 0): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const [user = '', system = ''] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Started, startProgram, temporaryFolder } from '../support/service/program.ts'

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe('what other users of the machine see of the embedded places', () => {
  it('is nothing, whatever the umask: the service makes them for itself alone', async () => {
    const DATA_DIR = join(await temporaryFolder(opened), 'made', 'data')
    await serve(DATA_DIR)
    expect(await modesUnder(DATA_DIR)).toEqual(PRIVATE)
    expect((await stat(join(DATA_DIR, '..'))).mode & 0o777).toBe(0o700)
  })

  it('is nothing where an earlier version made them, and the log names what was closed', async () => {
    const DATA_DIR = join(await temporaryFolder(opened), 'data')
    const earlier = await serve(DATA_DIR)
    earlier.process.kill('SIGKILL')
    const { 'objects/store-id': _, 'database.sqlite-reserve': __, ...made } = PRIVATE
    for (const [path, mode] of Object.entries(made)) {
      await chmod(join(DATA_DIR, path), mode === 0o700 ? 0o755 : 0o644)
    }
    const { output } = await serve(DATA_DIR)
    expect(await modesUnder(DATA_DIR)).toEqual(PRIVATE)
    const told = [...output().matchAll(/"path":"([^"]+)".*access by other system users removed/g)]
    expect(told.map(([, path]) => path)).toEqual(
      Object.keys(made).map((path) => join(DATA_DIR, path)),
    )
  })

  it('stays as it is where a folder is meant for everyone, as /tmp is', async () => {
    const DATA_DIR = await temporaryFolder(opened)
    await chmod(DATA_DIR, 0o1777)
    await serve(DATA_DIR)
    expect(await modesUnder(DATA_DIR)).toEqual({ ...PRIVATE, '.': 0o777 })
  })
})

const PRIVATE = {
  '.': 0o700,
  objects: 0o700,
  'objects/store-id': 0o600,
  'objects/users': 0o700,
  'objects/pack.sqlite': 0o600,
  'objects/pack.sqlite-wal': 0o600,
  'objects/pack.sqlite-shm': 0o600,
  'database.sqlite': 0o600,
  'database.sqlite-wal': 0o600,
  'database.sqlite-shm': 0o600,
  'database.sqlite-instances': 0o600,
  'database.sqlite-reserve': 0o600,
}

async function modesUnder(folder: string): Promise<Record<string, number>> {
  const paths = ['.', ...(await readdir(folder, { recursive: true }))]
  const modes = paths.map(async (path) => [path, (await stat(join(folder, path))).mode & 0o777])
  return Object.fromEntries(await Promise.all(modes)) as Record<string, number>
}

async function serve(DATA_DIR: string): Promise<Started> {
  const under = ['/bin/sh', '-c', 'umask 022; exec "$@"', 'sh']
  const started = await startProgram({ args: ['serve'], environment: { DATA_DIR }, under, opened })
  await expect.poll(started.output, { timeout: 20_000 }).toMatch(/listens at/)
  return started
}

import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A clock of programs that a test can set while they run. */
export interface FakeClock {
  /** For the environment of these programs. */
  readonly environment: Readonly<Record<string, string>>
  /** Sets it `seconds` ahead of the time. */
  set(seconds: number): Promise<void>
  /** A program that runs another one by this clock. */
  wrap(program: string): Promise<string>
}

export async function createFakeClock(opened: AsyncDisposableStack): Promise<FakeClock> {
  const library = await findFaketime()
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-clock-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  // The servers run as another user.
  await chmod(folder, 0o755)
  const file = join(folder, 'offset')
  const set = (seconds: number): Promise<void> =>
    writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`)
  await set(0)
  const environment = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  return {
    environment,
    set,
    async wrap(program) {
      const script = join(folder, 'program')
      const variables = Object.entries(environment).map(([name, value]) => `${name}='${value}'`)
      await writeFile(script, `#!/bin/sh\nexec env ${variables.join(' ')} '${program}' "$@"\n`)
      await chmod(script, 0o755)
      return script
    },
  }
}

/** The library of Debian's package `faketime`, for programs with threads. */
export async function findFaketime(): Promise<string> {
  for (const folder of await readdir('/usr/lib')) {
    const library = join('/usr/lib', folder, 'faketime/libfaketimeMT.so.1')
    const names = await readdir(join('/usr/lib', folder, 'faketime')).catch((): string[] => [])
    if (names.includes('libfaketimeMT.so.1')) return library
  }
  throw new Error('no libfaketime on this machine (Debian: faketime)')
}

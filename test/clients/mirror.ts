import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { change, remove } from '../http/file-requests.ts'
import { upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'

export interface Mirror {
  readonly service: TestService
  readonly user: TestUser
  /** What the program keeps equal to the repository. */
  readonly folder: string
  readonly start: () => ChildProcess
}

/** Expects a mirror to follow every kind of change, and to find what has changed while it did not run. */
export async function expectMirror({ service, user, folder, start }: Mirror): Promise<void> {
  async function copied(): Promise<Record<string, string>> {
    const names = await readdir(folder).catch(() => [])
    const pairs = names.map(async (name) => [
      name,
      await readFile(join(folder, name), 'utf8').catch(() => ''),
    ])
    return Object.fromEntries((await Promise.all(pairs)) as [string, string][])
  }

  for (const name of ['a', 'b', 'c d']) await upload(service, { user, name, content: name })
  const first = start()
  await expect.poll(copied).toEqual({ a: 'a', b: 'b', 'c d': 'c d' })
  await upload(service, { user, name: 'a', content: 'again' })
  await change(service, { user, name: 'b', body: { name: 'renamed ü' } })
  await remove(service, { user, name: 'c d' })
  await expect.poll(copied).toEqual({ a: 'again', 'renamed ü': 'b' })
  first.kill()
  await once(first, 'exit')
  await remove(service, { user, name: 'a' })
  await upload(service, { user, name: 'e', content: 'e' })
  const second = start()
  await expect.poll(copied).toEqual({ 'renamed ü': 'b', e: 'e' })
  second.kill()
  await once(second, 'exit')
}

import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { freshKey } from '../../support/objects.ts'
import { createFolder, findProgram } from '../../support/servers/local-server.ts'

/** More than the threads that Node has for files. */
const READERS = 12

it('reads that wait for the disk keep no upload waiting', async () => {
  const folder = await createFolder('slow-disk')
  const store = createFilesystemStore({ directory: folder.path })
  const { signal } = new AbortController()
  await store.prepare(signal)
  const leaving = new AbortController()
  const mkfifo = await findProgram('mkfifo')
  // Opening a pipe takes a thread until somebody opens its other end.
  const pipes = Array.from({ length: READERS }, () => {
    const key = freshKey(parseUserId('reader'))
    const path = join(folder.path, key)
    mkdirSync(dirname(path), { recursive: true })
    execFileSync(mkfifo, [path])
    return { key, path, opened: store.open({ key, range: undefined, signal: leaving.signal }) }
  })
  const openings = Promise.allSettled(pipes.map(({ opened }) => opened))
  const key = freshKey(parseUserId('writer'))
  const body = Buffer.alloc(100_000)
  const stored = store.put({ key, body, signal })
  try {
    expect(await stored).toMatchObject({ size: body.length })
  } finally {
    leaving.abort()
    for (const { path } of pipes) {
      // Fails unless somebody waits at this pipe.
      try {
        closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
      } catch {}
    }
    await openings
    await store.close()
    await folder.remove()
  }
})

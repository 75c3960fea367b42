import { readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { SqliteInstances } from '../../../src/database/sqlite/instances.ts'
import { createFolder } from './harness.ts'

describe('the processes that serve one SQLite database', () => {
  let file: string

  beforeEach(async () => {
    const folder = await createFolder()
    file = join(folder.path, 'test.db')
    await writeFile(file, '')
    return () => folder.remove()
  })

  function open(of = file): SqliteInstances {
    const instances = new SqliteInstances(of)
    onTestFinished(() => instances.leave())
    return instances
  }

  /** Has one process serve the database, and end. */
  async function serveOnce(of = file): Promise<void> {
    const instances = open(of)
    await instances.join(async () => undefined)
    instances.leave()
  }

  const takeOver = async (): Promise<string> => 'taken over'

  it('have the next one take over when they are gone', async () => {
    await serveOnce()
    expect(await open().join(takeOver)).toBe('taken over')
    // Nothing is written, so a full disk keeps nobody from starting.
    expect((await stat(`${file}-instances`)).size).toBe(0)
    expect(await readdir(dirname(file))).toHaveLength(2)
  })

  it('keep others from taking over, each of them until it leaves', async () => {
    await serveOnce()
    const [first, second] = [open(), open()]
    expect(await first.join(takeOver)).toBe('taken over')
    expect(await second.join(takeOver)).toBeUndefined()
    first.leave()
    expect(await open().join(takeOver)).toBeUndefined()
  })

  it('are not known before the first of them, so that it takes over from none', async () => {
    expect(await open().join(takeOver)).toBeUndefined()
  })

  it('join after the one that takes over has done so', async () => {
    await serveOnce()
    const { promise: taken, resolve } = Promise.withResolvers<void>()
    const order: string[] = []
    const first = open().join(async () => {
      await taken
      order.push('taken over')
    })
    const second = open()
      .join(takeOver)
      .then((answer) => order.push(`joined, ${answer}`))
    setTimeout(resolve, 200)
    await Promise.all([first, second])
    expect(order).toEqual(['taken over', 'joined, undefined'])
  })

  it('let go of the lock when taking over fails', async () => {
    await serveOnce()
    const failing = open()
    await expect(failing.join(() => Promise.reject(new Error('No.')))).rejects.toThrow('No.')
    failing.leave()
    expect(await open().join(takeOver)).toBe('taken over')
  })

  it('know one another also where a link names the database', async () => {
    const link = `${file}-link`
    await symlink(file, link)
    for (const name of [file, link]) await serveOnce(name)
    await open().join(takeOver)
    expect(await open(link).join(takeOver)).toBeUndefined()
  })
})

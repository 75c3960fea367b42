import { describe, expect, it } from 'vitest'
import { openDatabase, openObjectStore } from '../../src/compose/adapters.ts'
import { readConfig } from '../../src/config/config.ts'
import { verify } from '../support/verify.ts'
import { folderOf, readDataSet, type Stack, versionsWithData } from './data-set.ts'
import { ask, digestOf } from './exchange.ts'
import { serve } from './service.ts'
import { addressOf, append, send } from './story.ts'

type Settings = Readonly<Record<string, string>>

/** F10: what each version has stored is read, changed and verified by this one. */
export function upgradeSuite(
  stack: Stack,
  restore: (folder: string, opened: AsyncDisposableStack) => Promise<Settings>,
): void {
  describe.each(versionsWithData())(`F10 the data of %s on the ${stack} stack`, (version) => {
    const folder = folderOf(version, stack)

    it('is answered for as before, and can be changed and verified', async () => {
      await using opened = new AsyncDisposableStack()
      const environment = await restore(folder, opened)
      const { exchanges, token, unfinished, pastVersion, cursor } = readDataSet(folder)
      const listening = await serve(environment)
      opened.defer(() => listening.service.stop())
      for (const { answer, ...read } of exchanges) {
        const found = await ask(addressOf(listening, read), read.token)
        expect({ path: read.path, ...found }).toMatchObject({ path: read.path, ...answer })
      }

      const { url } = listening
      const { path, offset, rest } = unfinished
      await append(url, { token, path, offset, content: rest })
      const restored = { body: '{"overwrite":true}', headers: JSON_TYPE }
      await send(url, `POST /users/me/history/${pastVersion}/restore`, { token, ...restored })
      await send(url, 'PUT /users/me/repo/notes.txt', { token, body: 'the second notes' })
      await send(url, 'DELETE /users/me/repo/film.mov', { token })
      for (const [name, content] of Object.entries(NOW)) {
        expect((await ask(`${url}/users/me/repo/${name}`, token)).body).toEqual(digested(content))
      }
      const changes = await ask(`${url}/users/me/changes?cursor=${cursor}`, token)
      expect(changes.body).toMatchObject({ changes: CHANGES })
      await listening.service.sweep()
      expect(await findingsIn(environment)).toEqual([])
    })
  })
}

const JSON_TYPE = { 'content-type': 'application/json' }

const NOW = { resumed: '0123456789abcdefghij', replaced: 'before', 'notes.txt': 'the second notes' }

const CHANGES = [
  { type: 'file.created', name: 'resumed' },
  { type: 'file.restored', name: 'replaced' },
  { type: 'file.replaced', name: 'notes.txt' },
  { type: 'file.deleted', name: 'film.mov' },
]

function digested(content: string) {
  return { size: content.length, sha256: digestOf(Buffer.from(content)) }
}

async function findingsIn(environment: Settings) {
  const config = readConfig(environment)
  const database = await openDatabase(config.database)
  const { maxFileSize } = config
  const objects = await openObjectStore(config.objectStore, { maxFileSize, warn: undefined })
  const { findings } = await verify({ database, objects }, { readOneIn: 1 })
  await objects.close()
  await database.close()
  return findings
}

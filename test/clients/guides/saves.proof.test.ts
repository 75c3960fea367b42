import { copyFile, cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { namesOf, remove } from '../../http/file-requests.ts'
import { download, MIB } from '../../http/fixture.ts'
import type { HttpProxy } from '../../support/faults/http-proxy.ts'
import { forTest } from '../../support/for-test.ts'
import { freePort } from '../../support/servers/local-server.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { guideBlock } from './blocks.ts'
import { readerOf, runCommands, runProgram, whyNoRequests } from './run.ts'
import { openScene } from './scene.ts'

const SAVE = 'saves/slot 1.sav'
const OFFLINE = 'offline: the next run continues'

describe.skipIf(isSkipped(await whyNoRequests()))('the saved games of the guide', () => {
  let folder: string
  let service: TestService
  let network: HttpProxy
  let user: TestUser
  let token: string
  beforeEach(async () => {
    ;({ folder, service, network, user } = await openScene(MIB, { historyLifetimeMs: 86_400_000 }))
    await copyFile('docs/examples/sync.py', join(folder, 'sync.py'))
    for (const machine of ['a', 'b']) await mkdir(join(folder, machine))
    const actions = ['read', 'create', 'replace', 'history']
    const scope = JSON.stringify({ scope: { actions, prefix: 'saves/' } })
    const issue = guideBlock('A token for the camera').replace(/-d '[^']*'/, `-d '${scope}'`)
    const issued = await runCommands(issue, { reader: readerOf(service, user) })
    token = String(issued['access_token'])
  })

  const run = (block: string, variables = {}) =>
    runCommands(block, { reader: { url: service.url, token }, variables })
  async function play(machine: string, content: string): Promise<void> {
    await mkdir(join(folder, machine, 'saves'), { recursive: true })
    await writeFile(join(folder, machine, SAVE), content)
  }
  const savedOn = (machine: string, name = SAVE) => readFile(join(folder, machine, name), 'utf8')
  const stored = async (name = SAVE) => String((await download(service, { user, name })).body)

  async function sync(machine: string, url = network.url): Promise<string> {
    const words = ['python3', join(folder, 'sync.py'), SAVE] as const
    const run = { reader: { url, token }, folder: join(folder, machine) }
    const { code, stdout, stderr } = await runProgram(words, run)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.trim().replace(`${SAVE}: `, '')
  }

  it('travel from one machine to another and back', async () => {
    await play('a', 'one')
    expect(await sync('a')).toBe('sent')
    expect(await sync('a')).toBe('unchanged')
    expect(await sync('b')).toBe('received')
    expect(await savedOn('b')).toBe('one')
    await play('b', 'two')
    expect(await sync('b')).toBe('sent')
    expect(await sync('a')).toBe('received')
    expect(await savedOn('a')).toBe('two')
  })

  it('are both kept if both machines have played', async () => {
    await play('a', 'one')
    await sync('a')
    await sync('b')
    await play('a', 'of a')
    await play('b', 'of b')
    expect(await sync('a')).toBe('sent')
    expect(await sync('b')).toMatch(/^conflict: .*saves\/slot 1\.sav\.conflict-[0-9a-f]{8}$/)
    const names = await readdir(join(folder, 'b'), { recursive: true })
    const conflict = names.find((name) => name.includes('conflict')) ?? ''
    expect([await savedOn('b'), await savedOn('b', conflict)]).toEqual(['of a', 'of b'])
    expect([await stored(), await stored(conflict)]).toEqual(['of a', 'of b'])
    await cp(join(folder, 'b', conflict), join(folder, 'b', SAVE))
    expect(await sync('b')).toBe('sent')
    expect(await sync('a')).toBe('received')
    expect(await savedOn('a')).toBe('of b')
  })

  it('are both kept if two machines begin with different ones', async () => {
    await play('a', 'of a')
    await play('b', 'of b')
    expect(await sync('a')).toBe('sent')
    expect(await sync('b')).toMatch(/^conflict/)
    expect(await namesOf(service, { user })).toHaveLength(2)
  })

  it('are no conflict after lost answers and refusals', async () => {
    await play('a', 'one')
    network.mishaps.push('unanswered', { status: 503, retryAfter: 2 })
    expect(await sync('a')).toBe('sent')
    const [, second = 0, third = 0] = network.requests.map(({ at }) => at)
    expect(third - second).toBeGreaterThan(1990)
    // The answer of a whole run is lost, and then the player continues.
    await play('a', 'two')
    network.mishaps.push('unanswered', { status: 503, retryAfter: 3600 })
    expect(await sync('a')).toBe(OFFLINE)
    expect(await stored()).toBe('two')
    await play('a', 'three')
    network.mishaps.push({ status: 503, retryAfter: 3600 })
    expect(await sync('a')).toBe(OFFLINE)
    await play('a', 'four')
    expect(await sync('a')).toBe('sent')
    expect(await stored()).toBe('four')
    expect(await namesOf(service, { user })).toEqual([SAVE])
  })

  it('wait on the machine while the service cannot be reached', async () => {
    await play('a', 'one')
    expect(await sync('a', `http://127.0.0.1:${await freePort()}`)).toBe(OFFLINE)
    expect(await savedOn('a')).toBe('one')
    expect(await sync('a')).toBe('sent')
  })

  it('are stored again if they were deleted elsewhere and played here', async () => {
    await play('a', 'one')
    await sync('a')
    await remove(service, { user, name: SAVE })
    expect(await sync('a')).toBe('not on the service')
    await play('a', 'two')
    expect(await sync('a')).toBe('sent')
    expect(await stored()).toBe('two')
  })

  it('are only those below the folder', async () => {
    const other = await temporaryFolder(forTest())
    await writeFile(join(other, 'own.sav'), 'own')
    for (const path of ['..', '../own.sav', 'saves/../../own.sav', join(other, 'own.sav'), '.']) {
      const words = ['python3', join(folder, 'sync.py'), path] as const
      const ran = await runProgram(words, { reader: { url: network.url, token }, folder: other })
      expect(ran).toMatchObject({ code: 1, stderr: `${path} is not a file below this folder.\n` })
    }
    expect(network.requests).toEqual([])
  })

  it('go back to that of yesterday, unless another machine has saved since', async () => {
    await play('a', 'yesterday')
    await sync('a')
    await play('a', 'today')
    await sync('a')
    await sync('b')
    const { versions } = await run(guideBlock("Go back to yesterday's save"), { SAVE })
    const [{ version: VERSION = '' } = {}] = versions as { version?: string }[]
    const restore = guideBlock("Go back to yesterday's save", 1)
    await expect(run(restore, { VERSION, ETAG: VERSION })).rejects.toThrow('"precondition_failed"')
    const { headers } = await download(service, { user, name: SAVE })
    await run(restore, { VERSION, ETAG: String(headers['etag']).replaceAll('"', '') })
    for (const machine of ['a', 'b']) {
      expect(await sync(machine)).toBe('received')
      expect(await savedOn(machine)).toBe('yesterday')
    }
  })
})

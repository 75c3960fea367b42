import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { namesOf } from '../../http/file-requests.ts'
import { download, upload } from '../../http/fixture.ts'
import type { HttpProxy } from '../../support/faults/http-proxy.ts'
import { findProgram } from '../../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { guideBlock } from './blocks.ts'
import { readerOf, runCommands } from './run.ts'
import { openScene } from './scene.ts'

const LOG = 'a line of the log\n'
const DROPPED = { name: 'app.log', size: LOG.length }

describe.skipIf(isSkipped(await whyMissing(findProgram('curl'))))(
  'the drop box of the guide',
  () => {
    let folder: string
    let service: TestService
    let network: HttpProxy
    let user: TestUser
    beforeEach(async () => {
      ;({ folder, service, network, user } = await openScene(1000))
      await writeFile(join(folder, 'app.log'), LOG)
    })

    const run = (block: string, variables = {}) =>
      runCommands(block, { reader: readerOf(service, user), variables, folder })
    const drop = (url: string, password = 'correct horse') =>
      run(guideBlock('Send a file from a program'), { LINK: url, LINK_PASSWORD: password })
    const stored = () => namesOf(service, { user })
    const throughNetwork = (url: string) => url.replace(service.url, network.url)

    async function makeLink(
      block = guideBlock('Make a link'),
    ): Promise<{ url: string; id: string }> {
      const { url, link_id: id } = await run(block)
      return { url: String(url), id: String(id) }
    }

    it('takes a file until it is revoked, and its owner learns of it', async () => {
      const { next_cursor: CURSOR } = await run(guideBlock('Learn of new files'))
      const { url, id } = await makeLink()
      const news = run(guideBlock('Learn of new files'), { CURSOR: String(CURSOR) })
      expect(await drop(url)).toMatchObject(DROPPED)
      const { changes } = await news
      expect(changes).toMatchObject([{ type: 'file.created', name: 'cases/4711/app.log' }])
      await run(guideBlock('Revoke the link'), { LINK_ID: id })
      await expect(drop(url)).rejects.toThrow('"code":"not_found"')
      expect(await stored()).toEqual(['cases/4711/app.log'])
    })

    it('takes a large file with tus', async () => {
      const { url } = await makeLink()
      const send = (block: string) =>
        run(block, { LINK: throughNetwork(url), LINK_PASSWORD: 'correct horse' })
      await send(guideBlock('Send a large file'))
      expect(await stored()).toEqual(['cases/4711/app.log'])
      const { body } = await download(service, { user, name: 'cases/4711/app.log' })
      expect(body.toString()).toBe(LOG)
    })

    it('needs its password, and tells a full repository without figures', async () => {
      const { url } = await makeLink()
      await expect(drop(url, 'wrong')).rejects.toThrow('"code":"link_password_required"')
      await upload(service, { user, name: 'full', content: Buffer.alloc(1000) })
      const refusal: unknown = await drop(url).catch((error: unknown) => error)
      expect(String(refusal)).toContain('"code":"capacity_exceeded"')
      expect(String(refusal)).not.toContain('"available"')
      expect(await stored()).toEqual(['full'])
    })

    it('refuses the second attempt after a lost answer with 409, or 404 after the last use', async () => {
      const { url } = await makeLink()
      network.mishaps.push('unanswered')
      await expect(drop(throughNetwork(url))).rejects.toThrow('52')
      await expect(drop(url)).rejects.toThrow('"code":"file_exists"')
      const once = guideBlock('Make a link').replace('"max_bytes"', '"max_uses": 1, "max_bytes"')
      const last = await makeLink(once.replace('cases/4711/', 'cases/4712/'))
      network.mishaps.push('unanswered')
      await expect(drop(throughNetwork(last.url))).rejects.toThrow('52')
      await expect(drop(last.url)).rejects.toThrow('"code":"not_found"')
      expect(await stored()).toEqual(['cases/4711/app.log', 'cases/4712/app.log'])
    })
  },
)

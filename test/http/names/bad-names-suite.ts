import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BAD_NAMES, BAD_SPELLINGS, BAD_TEXTS, type BadName } from '../../support/names/bad-names.ts'
import { createClient } from '../../../packages/js/src/client.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ADMIN_TOKEN } from '../admin/fixture.ts'
import { remove } from '../file-requests.ts'
import { ask, download, jsonOf, MIB, type OpenService, secretOf, upload } from '../fixture.ts'
import { createLink } from '../links/link-requests.ts'
import {
  JSON_PREFIX_WAYS,
  JSON_WAYS,
  type NamedRequest,
  type NamesScene,
  PATH_WAYS,
  PREFIX_WAYS,
  spelled,
  VALUE_WAYS,
  type Way,
} from './ways.ts'

/** Each rule of the grammar, by each way in which a name arrives. What never reaches a port is tried on one stack. */
export function badNamesSuite(open: OpenService): void {
  describe('what is no file name', () => {
    let service: TestService
    let user: TestUser
    let scene: NamesScene
    let calls: number
    beforeAll(async () => {
      service = await open({ adminToken: ADMIN_TOKEN, historyLifetimeMs: 3_600_000 })
      user = await service.createUser(MIB)
      scene = await createNamesScene(service, user)
    })
    afterAll(() => service.stop())
    beforeEach(() => {
      calls = service.calls.count
    })

    /** What is wrong with the refusals of these, if anything is. */
    async function faultsOf(
      tried: readonly Pick<BadName, 'name' | 'says'>[],
      { way, code }: { readonly way: Way; readonly code: string },
    ): Promise<string[]> {
      const [, requestOf] = way
      const faults: string[] = []
      for (const { name, says } of tried) {
        const asked = requestOf(name, scene)
        const told = await refusalOf(service, { user, asked })
        const isTold = asked.method === 'HEAD' || (told.code === code && says.test(told.detail))
        const changed = service.calls.changesSince(calls)
        if (told.status === 400 && isTold && changed.length === 0) continue
        faults.push(
          `${shorten(name)}: ${told.status} ${told.code} ${told.detail} ${changed.join()}`,
        )
        calls = service.calls.count
      }
      return faults
    }

    const code = 'invalid_file_name'
    const inPaths = BAD_NAMES.flatMap(({ name, says }) =>
      spelled(name).map((spelling) => ({ name: spelling, says })),
    )
    const notUtf8 = BAD_SPELLINGS.map((name) => ({ name, says: /UTF-8/ }))

    it.each(PATH_WAYS)('is refused in a path, in each spelling: %s', async (...way) => {
      expect(await faultsOf([...inPaths, ...notUtf8], { way, code })).toEqual([])
    })

    it.each(VALUE_WAYS)('is refused as a value: %s', async (...way) => {
      expect(await faultsOf(BAD_NAMES, { way, code })).toEqual([])
    })

    it.each(JSON_WAYS)('is refused in JSON: %s', async (...way) => {
      expect(await faultsOf([...BAD_NAMES, ...BAD_TEXTS], { way, code })).toEqual([])
    })

    it('is refused by the package for TypeScript, which asks for nothing else', async () => {
      const { files, links } = createClient({ url: service.url, token: secretOf(user) })
      const much = new Uint8Array(9 * MIB)
      const wrong: string[] = []
      for (const { name } of [...BAD_NAMES, ...BAD_TEXTS]) {
        const asked: Readonly<Record<string, () => Promise<unknown>>> = {
          upload: () => files.upload(name, new Uint8Array(1)),
          'upload of much': () => files.upload(name, much),
          download: () => files.download(name),
          update: () => files.update(name, { keep: true }),
          delete: () => files.delete(name),
          'rename of': () => files.rename(name, 'other'),
          'rename to': () => files.rename('kept', name),
          // A query has no half of a character.
          ...(name.isWellFormed() && { archive: () => files.archive({ names: [name] }) }),
          link: () => links.create({ kind: 'download', name }),
        }
        for (const [of, ask] of Object.entries(asked)) {
          const error: unknown = await ask().catch((caught: unknown) => caught)
          if ((error as { readonly code?: unknown }).code === code) continue
          wrong.push(`${of} ${shorten(name)}: ${String(error)}`)
        }
      }
      expect(wrong).toEqual([])
      expect(service.calls.changesSince(calls)).toEqual([])
    })

    const prefixes = BAD_NAMES.filter(({ isPrefix }) => isPrefix !== true).map(anyWords)

    it.each(PREFIX_WAYS)('is refused as a prefix: %s', async (...way) => {
      expect(await faultsOf(prefixes, { way, code: 'invalid_parameter' })).toEqual([])
    })

    it.each(JSON_PREFIX_WAYS)('is refused as a prefix in JSON: %s', async (...way) => {
      const tried = [...prefixes, ...BAD_TEXTS.filter(({ name }) => name !== '').map(anyWords)]
      expect(await faultsOf(tried, { way, code: 'invalid_parameter' })).toEqual([])
    })
  })
}

/** An account with the file `kept`, a past version of `gone`, and links without a prefix. */
export async function createNamesScene(service: TestService, user: TestUser): Promise<NamesScene> {
  await upload(service, { user, name: 'kept', content: 'kept' })
  await upload(service, { user, name: 'a', content: 'a' })
  const { version } = jsonOf(await upload(service, { user, name: 'gone', content: 'gone' }))
  await remove(service, { user, name: 'gone' })
  const token = secretOf(user)
  const links = await Promise.all(
    ['drop', 'download'].map((kind) => createLink(service, { token, kind, prefix: '' })),
  )
  const [drop = '', downloads = ''] = links.map(({ secret }) => secret)
  return { userId: user.userId, drop, download: downloads, past: String(version) }
}

/** A parameter is refused in the words of its own description. */
function anyWords({ name }: BadName): Pick<BadName, 'name' | 'says'> {
  return { name, says: /prefix|evict/ }
}

interface Told {
  readonly status: number
  readonly code: string
  readonly detail: string
}

/** Over a raw socket, since clients tidy paths up. */
async function refusalOf(
  service: TestService,
  { user, asked }: { readonly user: TestUser; readonly asked: NamedRequest },
): Promise<Told> {
  const { listener, isVisitor, method, path, headers = {}, body } = asked
  const isAdmin = listener === 'admin'
  const admin = isAdmin ? { Authorization: `Bearer ${ADMIN_TOKEN}` } : {}
  const who = isAdmin || isVisitor === true ? {} : { user }
  if (method === 'HEAD') {
    const { status } = await download(service, { ...who, method, path })
    return { status, code: '', detail: '' }
  }
  const at = isAdmin ? { ...service, port: service.adminPort } : service
  const reply = await ask(at, {
    ...who,
    method,
    path,
    headers: { ...admin, ...headers },
    ...(body !== undefined && { body }),
  })
  const { code = '', detail = '' } = problemIn(reply.body.toString())
  return { status: reply.status, code, detail }
}

function problemIn(text: string): { readonly code?: string; readonly detail?: string } {
  try {
    return JSON.parse(text) as { readonly code?: string; readonly detail?: string }
  } catch {
    return { detail: text.slice(0, 100) }
  }
}

function shorten(name: string): string {
  const text = JSON.stringify(name)
  return text.length < 60 ? text : `${text.slice(0, 40)}... of ${text.length}`
}

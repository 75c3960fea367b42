import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES, ERROR_KINDS } from '../../src/core/error-codes.ts'
import { docsPage } from '../../web/docs/page.ts'
import type { Json } from '../../src/http/openapi/operation.ts'
import { DOCUMENT_FILES } from '../openapi/documents.ts'

interface Document extends Json {
  readonly paths: Json
  readonly components: Readonly<Record<string, Json>>
}

const PARTS = { style: '', script: '', icon: '', address: 'http://a.test' }

/** Codes with their statuses, in the order of their names. */
const CODES = sorted(ERROR_CODES.map((code) => `${code} ${ERROR_KINDS[code].status}`))

describe('the closed list of codes', () => {
  it('is what the table of docs/api.md has, each with its status', async () => {
    const page = await readFile('docs/api.md', 'utf8')
    const [, table = ''] = /^\| status \| `code` \|\n\|---\|---\|\n(.*?)\n\n/ms.exec(page) ?? []
    const codes = table.split('\n').flatMap((row) => {
      const [, statuses = '', cell = ''] = row.split(' | ').join('|').split('|')
      const named = [...cell.replaceAll(/\([^)]*\)/g, '').matchAll(/`([a-z_]+)`/g)]
      return named.map(([, code = ''], at) => {
        const list = statuses.trim().split(', ')
        return `${code} ${list[at] ?? list[0]}`
      })
    })
    expect(sorted(codes)).toEqual(CODES)
  })

  it.each(Object.entries(DOCUMENT_FILES))(
    'is what the %s document has, and its page',
    async (...row) => {
      const [, file] = row
      const document = await read(file)
      const { schemas = {}, examples = {} } = document.components
      const { properties } = schemas['Problem'] as { properties: { code: { enum: string[] } } }
      expect(sorted(properties.code.enum)).toEqual(sorted(ERROR_CODES))
      const described = Object.entries(examples).map(([code, example]) => {
        const { value } = example as { readonly value: { readonly status: number } }
        return `${code} ${value.status}`
      })
      expect(sorted(described)).toEqual(CODES)
      const rows = docsPage(document, PARTS).matchAll(
        / id="problem-([^"]+)">.*?<td>\s*(\d+)\s*<\/td>/gs,
      )
      expect(sorted([...rows].map(([, code, status]) => `${code} ${status}`))).toEqual(CODES)
    },
  )

  it('is what operations are refused with, and a path for its method', async () => {
    const documents = await Promise.all(Object.values(DOCUMENT_FILES).map(read))
    const given = documents.flatMap(({ components }) =>
      Object.values(components['responses'] ?? {}).flatMap((response) =>
        [...JSON.stringify(response).matchAll(/#\/components\/examples\/([a-z_]+)/g)].map(
          ([, code]) => code,
        ),
      ),
    )
    expect(sorted([...new Set(['method_not_allowed', ...given])])).toEqual(sorted(ERROR_CODES))
  })
})

async function read(file: string): Promise<Document> {
  return JSON.parse(await readFile(file, 'utf8')) as Document
}

function sorted(texts: readonly (string | undefined)[]): (string | undefined)[] {
  return [...texts].sort((a = '', b = '') => (a < b ? -1 : 1))
}

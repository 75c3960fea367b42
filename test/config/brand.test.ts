import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/config.ts'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>'
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function fileOf(content: string | Buffer): Promise<string> {
  const path = join(folder, 'logo')
  await writeFile(path, content)
  return path
}

function faultOf(environment: Record<string, string>): string {
  try {
    readConfig(environment)
    return ''
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n  ')[1] ?? ''
    throw error
  }
}

describe('the look of the pages', () => {
  it('is read, with a logo from its file', async () => {
    const links = '{"Imprint": "https://example.com/a b", "Help": "mailto:help@example.com"}'
    const settings = {
      PAGE_NAME: 'Contoso <Files>',
      PAGE_LOGO: await fileOf(SVG),
      PAGE_COLOR: '#0A7F5A',
      PAGE_LINKS: links,
      PAGE_LANGUAGE: 'pt-br',
    }
    expect(readConfig(settings).brand).toEqual({
      name: 'Contoso <Files>',
      logo: { format: 'svg', bytes: Buffer.from(SVG) },
      color: '#0a7f5a',
      links: [
        ['Imprint', 'https://example.com/a%20b'],
        ['Help', 'mailto:help@example.com'],
      ],
      language: 'pt-BR',
    })
    expect(readConfig({ PAGE_COLOR: '#f08' }).brand.color).toBe('#ff0088')
    const { logo } = readConfig({ PAGE_LOGO: await fileOf(PNG) }).brand
    expect(logo).toEqual({ format: 'png', bytes: PNG })
  })

  it.each([
    [
      'PAGE_NAME',
      'must be 1 to 60 ',
      ['a'.repeat(61), ' ', 'two\nlines', 'two\u2028lines', 'two\u2029lines', 'right\u202eleft'],
    ],
    ['PAGE_COLOR', 'must be a color in ', ['green', '0a7f5a', '#0a7f5', '#0a7f5ag', 'url(x)']],
    ['PAGE_LANGUAGE', 'must be a language tag, such as ', ['d', 'de_DE', 'de"', 'de,en']],
    ['PAGE_LINKS', 'must be a JSON object that ', ['[]', 'null', 'https://a.example', '{']],
    [
      'PAGE_LINKS',
      '"a" must be an https, http or mailto URL ',
      [
        '{"a": "javascript:alert(1)"}',
        '{"a": "data:text/html,x"}',
        '{"a": "/imprint"}',
        '{"a": "http:h"}',
        '{"a": "https:/a.example"}',
        '{"a": "https:///a.example"}',
        '{"a": "https:\\\\\\\\a.example"}',
        '{"a": "https://\\\\a.example"}',
        '{"a": " https://a.example"}',
        '{"a": "ht\\ntps://a.example"}',
        '{"a": "mail:to"}',
        '{"a": 1}',
        `{"a": "https://a.example/${'x'.repeat(2000)}"}`,
      ],
    ],
    ['PAGE_LINKS', 'must have labels', ['{"": "https://a"}', `{"${'x'.repeat(41)}": "https://a"}`]],
    [
      'PAGE_LINKS',
      'must have at most 6 links',
      [JSON.stringify(Object.fromEntries(Array.from('abcdefg', (label) => [label, 'https://a'])))],
    ],
  ])('refuses a wrong %s, which %s', (name, fault, texts) => {
    for (const text of texts) expect(faultOf({ [name]: text })).toContain(`${name}: ${fault}`)
  })

  it('refuses a logo that is missing, too large, or neither SVG nor PNG', async () => {
    const missing = faultOf({ PAGE_LOGO: join(folder, 'none') })
    expect(missing).toMatch(/^PAGE_LOGO: must be the path of a file that .*ENOENT/)
    expect(faultOf({ PAGE_LOGO: folder })).toMatch(/^PAGE_LOGO: .*EISDIR/)
    for (const content of [
      '',
      'GIF89a',
      '<svg/>',
      '<html xmlns="http://www.w3.org/1999/xhtml"/>',
    ]) {
      const fault = faultOf({ PAGE_LOGO: await fileOf(content) })
      expect(fault).toMatch(/^PAGE_LOGO: must be the path of an SVG file /)
    }
    const large = await fileOf(Buffer.concat([PNG, Buffer.alloc(256 * 1024)]))
    expect(faultOf({ PAGE_LOGO: large })).toBe(
      'PAGE_LOGO: must be the path of a file of at most 256 KiB',
    )
  })
})

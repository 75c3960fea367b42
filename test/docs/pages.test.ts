import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { makePages } from './pages.ts'

const TRANSCRIPTS = 'docs/http-transcripts.md'

let pages: Readonly<Record<string, string>>

beforeAll(async () => {
  pages = await makePages()
})

describe('the pages for authors of clients', () => {
  it('are the ones that are committed; if not: npm run docs', async () => {
    for (const [file, text] of Object.entries(pages)) {
      expect(text).toBe(await readFile(file, 'utf8'))
    }
  })
})

describe('the page of transcripts', () => {
  it('is the same whenever it is recorded', async () => {
    expect((await makePages())[TRANSCRIPTS]).toBe(pages[TRANSCRIPTS])
  })

  it('shows answers of the length that they say, but the one that is cut off', () => {
    const lengths = answersOf(pages[TRANSCRIPTS]).map(({ head, body }) => {
      const [, announced = '0'] = /^content-length: (\d+)$/im.exec(head) ?? []
      return { announced: Number(announced), shown: Buffer.byteLength(body) }
    })
    expect(lengths.length).toBeGreaterThan(20)
    // A block ends with the end of a line, which is the content's own or not.
    const others = lengths.filter(({ announced, shown }) => ![0, 1].includes(shown - announced))
    expect(others).toEqual([{ announced: 64, shown: 25 }])
  })

  it('shows nothing that works anywhere: no token, no address', () => {
    const page = pages[TRANSCRIPTS] ?? ''
    const tokens = new Set([...page.matchAll(/crt_[^\s"]+/g)].map(([token]) => token))
    expect(tokens).toEqual(
      new Set(['crt_this-stands-for-the-access-token-of-alice--', `crt_${'A'.repeat(43)}`]),
    )
    expect(page).not.toMatch(/127\.0\.0\.1|localhost/)
  })

  it('shows each kind of answer', () => {
    const statuses = answersOf(pages[TRANSCRIPTS]).map(({ head }) => head.split(' ')[1])
    const all = ['200', '201', '204', '206', '304', '400', '403', '404', '412', '416', '429']
    expect(new Set(statuses)).toEqual(new Set(all))
  })
})

function answersOf(page = ''): { readonly head: string; readonly body: string }[] {
  const blocks = [...page.matchAll(/^```http\n(HTTP.*?)^```$/gms)].map(([, block = '']) => block)
  return blocks.map((block) => {
    const end = block.indexOf('\n\n')
    return { head: block.slice(0, end), body: block.slice(end + 2) }
  })
}

import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('every custom property that a style uses is set', () => {
  const sources = globSync(['web/**/*.{css,html,ts,tsx}', 'src/http/pages/*.ts']).map((path) =>
    readFileSync(path, 'utf8'),
  )
  const all = sources.join('\n')
  const used = new Set([...all.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name))
  const set = new Set([...all.matchAll(/(--[\w-]+)['"]?[:,]/g)].map(([, name]) => name))
  expect(used.size).toBeGreaterThan(20)
  expect([...used].filter((name) => !set.has(name))).toEqual([])
})

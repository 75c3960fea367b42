import { build } from 'vite'
import { expect, it } from 'vitest'
import { shippedPackages } from './shipped-packages.ts'

it('the pages contain no package that is a development dependency', async () => {
  const bundled = new Set<string>()
  await build({
    configFile: 'web/vite.config.ts',
    build: { write: false },
    plugins: [
      {
        name: 'names what is bundled',
        generateBundle(_options, bundle) {
          for (const chunk of Object.values(bundle)) {
            if (chunk.type !== 'chunk') continue
            for (const id of Object.keys(chunk.modules)) {
              const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id) ?? []
              if (name !== undefined) bundled.add(name)
            }
          }
        },
      },
    ],
  })
  expect([...bundled]).toEqual(expect.arrayContaining(['preact', '@preact/signals']))
  const shipped = new Set((await shippedPackages()).map((id) => id.slice(0, id.lastIndexOf('@'))))
  expect([...bundled].filter((name) => !shipped.has(name))).toEqual([])
})

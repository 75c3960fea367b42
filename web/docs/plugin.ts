import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'vite'
import type { Json } from './api-document.ts'
import { docsPage } from './page.ts'

/** File name of each page, the committed document that it is rendered from, and the default address of the service. */
const PAGES = {
  'docs.html': ['openapi.json', 'http://127.0.0.1:3000'],
  'admin-docs.html': ['admin-openapi.json', 'http://127.0.0.1:3001'],
} as const

/** Adds the API reference pages to the build. */
export function docsPages(): Plugin {
  return {
    name: 'docs pages',
    apply: 'build',
    async generateBundle() {
      const parts = {
        style: await readStyle(),
        script: await buildScript(),
        icon: await readWeb('shared/icon.svg'),
      }
      for (const [fileName, [name, address]] of Object.entries(PAGES)) {
        const document = JSON.parse(await readWeb(`../api/${name}`)) as Json
        const source = docsPage(document, { ...parts, address })
        this.emitFile({ type: 'asset', fileName, source })
      }
    },
  }
}

/** The colors and measures of all pages, their controls, and the rules of these. */
async function readStyle(): Promise<string> {
  const base = await readWeb('shared/styles/base.css')
  // Later rules load an image, which the policy of these pages forbids.
  const variables = base.slice(0, base.indexOf('\n}\n') + 3)
  const own = ['shell', 'sections', 'responsive'].map((name) => `docs/styles/${name}.css`)
  const others = await Promise.all(['shared/styles/controls.css', ...own].map(readWeb))
  return [variables, ...others].join('\n')
}

async function buildScript(): Promise<string> {
  const built = await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    build: {
      write: false,
      rolldownOptions: { input: pathOf('docs/script/main.ts'), output: { format: 'iife' } },
    },
  })
  const outputs = 'output' in built ? built.output : []
  const [chunk] = outputs
  if (chunk?.type !== 'chunk') throw new Error('The script of the API reference was not built.')
  return chunk.code
}

async function readWeb(path: string): Promise<string> {
  return readFile(pathOf(path), 'utf8')
}

function pathOf(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}

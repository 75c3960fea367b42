import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import type { Json } from './api-document.ts'
import { docsPage } from './page.ts'

/** File name of each page, and the committed document that it is rendered from. */
const PAGES = { 'docs.html': 'openapi.json', 'admin-docs.html': 'admin-openapi.json' }

/** Adds the API reference pages to the build. */
export function docsPages(): Plugin {
  return {
    name: 'docs pages',
    apply: 'build',
    async generateBundle() {
      for (const [fileName, name] of Object.entries(PAGES)) {
        const file = fileURLToPath(new URL(`../../api/${name}`, import.meta.url))
        const document = JSON.parse(await readFile(file, 'utf8')) as Json
        this.emitFile({ type: 'asset', fileName, source: docsPage(document) })
      }
    },
  }
}

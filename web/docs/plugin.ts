import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import type { Json } from './api-document.ts'
import { docsPage } from './page.ts'

/** Where each page goes in the build, and the committed document that it is made of. */
const PAGES = { 'docs.html': 'openapi.json', 'admin-docs.html': 'admin-openapi.json' }

/** Adds to the build the pages that describe the APIs to people. */
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

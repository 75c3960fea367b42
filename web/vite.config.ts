import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { compressed } from './compress.ts'
import { docsPages } from './docs/plugin.ts'
import { LANGUAGE } from './language.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

// Relative references work under any base path.
export default defineConfig({
  root: here,
  base: './',
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [inLanguage(), docsPages(), compressed()],
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    rolldownOptions: {
      input: ['index.html', 'operator.html', 'links/link.html'].map((name) => here + name),
    },
    // docs/deployment.md states them. They are the first with `light-dark()` and `Promise.withResolvers`.
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    // The content security policy does not allow `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // For `scripts/page-packages.mjs`; not served.
    license: { fileName: 'licenses.json' },
  },
})

function inLanguage(): Plugin {
  return {
    name: 'in language',
    transformIndexHtml: {
      order: 'pre',
      handler: (document) => document.replace('%LANGUAGE%', LANGUAGE),
    },
  }
}

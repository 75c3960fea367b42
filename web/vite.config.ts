import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { compressed } from './compress.ts'
import { docsPages } from './docs/plugin.ts'
import { preloaded } from './preload.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

const LANGUAGES = `${here}languages/`

const BRAND_COLORS = 'shared/styles/brand-colors.css'

/** What the entries of all pages load first; one chunk is smaller than one for each set of pages that shares a part. */
const OF_ENTRIES =
  /web.(?:messages|language|shared.(?:format|folder|brand|prepare|sign-in-link))\.ts|src.errors\.ts|preload-helper|shared.styles\.css/

/** What all pages need of the client, for the same reason. */
const OF_CLIENT = /packages.js.src.(?:files.(?:source|upload)|http.listing)\.ts/

/** What all pages need after that. */
const OF_PAGES = /web.shared.(?:connection|product|outage-banner|visible-text|icon-button)\.tsx?/

/** What the list of the user's page shares with what is loaded later. */
const OF_LIST = /web.user.(?:selection.select-files|actions.row-actions|folders.files-of)\.ts/

// Relative references work under any base path.
export default defineConfig({
  root: here,
  base: './',
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [preloaded(), docsPages(), compressed()],
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    rolldownOptions: {
      // On a slow machine, `npm start` would begin with advice about plugins.
      checks: { bundlerTimings: false },
      // The service finds the languages by these names.
      output: {
        codeSplitting: {
          groups: [
            { name: 'prepare', test: OF_ENTRIES },
            { name: 'client', test: OF_CLIENT },
            { name: 'connection', test: OF_PAGES },
            { name: 'list', test: OF_LIST },
          ],
        },
        chunkFileNames: ({ facadeModuleId }) =>
          facadeModuleId?.startsWith(LANGUAGES) === true
            ? 'assets/language-[name]-[hash].js'
            : 'assets/[name]-[hash].js',
      },
      // The service links the last one where an operator has set a color.
      input: ['index.html', 'operator.html', 'links/link.html', BRAND_COLORS].map(
        (name) => here + name,
      ),
    },
    // docs/deployment.md states them. They are the first with `light-dark()` and `Promise.withResolvers`.
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    // The content security policy does not allow `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})

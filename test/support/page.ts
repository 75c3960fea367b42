import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readWebPage, type WebPage } from '../../src/http/pages/static-assets.ts'

/** What is served where nothing was built: the session, and no page. */
export const NO_BUILD: WebPage = { document: undefined, assets: new Map() }

/** The user's page as its sources are now. */
export async function buildPage(): Promise<WebPage> {
  return build('index.html')
}

/** The operator's page as its sources are now. */
export async function buildOperatorPage(): Promise<WebPage> {
  return build('operator.html')
}

async function build(document: string): Promise<WebPage> {
  await promisify(execFile)(process.execPath, ['scripts/build-page.mjs'])
  return readWebPage('dist/web', document)
}

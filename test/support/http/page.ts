import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import {
  type PageFile,
  readDocument,
  readWebPage,
  type WebPage,
} from '../../../src/http/pages/static-assets.ts'

/** What is served where nothing was built: the session, and no page. */
export const NO_BUILD: WebPage = { document: undefined, assets: new Map() }

/** The user's page as its sources are now. */
export async function buildPage(): Promise<WebPage> {
  return build('index.html')
}

/** What browsers show for a link, as its sources are now. */
export async function buildLinkPage(): Promise<PageFile | undefined> {
  await runBuild()
  return readDocument('dist/web/links', 'link.html')
}

/** The operator's page as its sources are now. */
export async function buildOperatorPage(): Promise<WebPage> {
  return build('operator.html')
}

/** The pages at `/docs` of both listeners, as their sources are now. */
export async function buildDocs(): Promise<Record<'docs' | 'adminDocs', PageFile | undefined>> {
  await runBuild()
  return {
    docs: await readDocument('dist/web', 'docs.html'),
    adminDocs: await readDocument('dist/web', 'admin-docs.html'),
  }
}

async function build(document: string): Promise<WebPage> {
  await runBuild()
  return readWebPage('dist/web', document)
}

/** One build is enough for the tests of a process, which do not change the sources. */
let built: Promise<unknown> | undefined

async function runBuild(): Promise<void> {
  built ??= promisify(execFile)(process.execPath, ['scripts/build-page.mjs'])
  await built
}

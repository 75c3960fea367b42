import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { type PageFile, readDocument, readWebPage, type WebPage } from './static-assets.ts'

export interface Pages {
  readonly user: WebPage
  readonly operator: WebPage
  /** What browsers show for a link. Its assets are those of the user's page. */
  readonly link: PageFile | undefined
}

/** Reads the web pages in `folder`. A missing or unreadable page does not prevent the APIs from starting. */
export async function openPages(folder: string, logger: FastifyBaseLogger): Promise<Pages> {
  try {
    const user = await readWebPage(folder, 'index.html')
    const operator = await readWebPage(folder, 'operator.html')
    const link = await readDocument(join(folder, 'links'), 'link.html')
    if (user.document !== undefined) return { user, operator, link }
    logger.warn('web pages not found; run "npm run build" or set WEB_PAGE=false')
  } catch (err) {
    logger.warn({ err }, 'reading the web pages failed; run "npm run build" or set WEB_PAGE=false')
  }
  return { user: NO_PAGE, operator: NO_PAGE, link: undefined }
}

/** The languages that the pages have, as tags of BCP 47: each but English is an asset (`web/vite.config.ts`). */
export function languagesOf({ assets }: WebPage): readonly string[] {
  const chunks = [...assets.keys()].filter((name) => name.startsWith(LANGUAGE_PREFIX))
  return ['en', ...chunks.map((name) => name.slice(LANGUAGE_PREFIX.length, -HASH_LENGTH))]
}

const LANGUAGE_PREFIX = 'language-'

/** Of `-xxxxxxxx.js`. */
const HASH_LENGTH = 12

/** Its paths still serve the session. */
const NO_PAGE: WebPage = { document: undefined, assets: new Map() }

export interface DocumentPages {
  readonly public?: PageFile | undefined
  readonly admin?: PageFile | undefined
}

/** Reads the pages of the API reference in `folder`. The service starts without them if they cannot be read. */
export async function openDocuments(
  folder: string,
  logger: FastifyBaseLogger,
): Promise<DocumentPages> {
  try {
    return {
      public: await readDocument(folder, 'docs.html'),
      admin: await readDocument(folder, 'admin-docs.html'),
    }
  } catch (err) {
    logger.warn({ err }, 'reading the API reference pages failed; they are not served')
    return {}
  }
}

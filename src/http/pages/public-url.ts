import type { Pages } from './open-pages.ts'
import { createPageFile, type PageFile, type WebPage } from './static-assets.ts'

/**
 * The pages with `PUBLIC_URL` in the documents of those that show addresses of the service: `web/shared/public-url.ts`
 * reads it there. Without the setting, the same pages.
 */
export async function addressPages(pages: Pages, publicUrl: string | undefined): Promise<Pages> {
  if (publicUrl === undefined) return pages
  // A URL that the settings accept needs no escapes.
  const meta = `<meta name="public-url" content="${publicUrl}">`
  const rewrite = async ({ document, assets }: WebPage): Promise<WebPage> => ({
    document: document && (await withElement(document, meta)),
    assets,
  })
  return { ...pages, user: await rewrite(pages.user), operator: await rewrite(pages.operator) }
}

async function withElement({ contents }: PageFile, element: string): Promise<PageFile> {
  const html = contents.get('identity')?.bytes.toString() ?? ''
  return createPageFile('.html', Buffer.from(html.replace('<title>', (found) => element + found)))
}

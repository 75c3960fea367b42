import type { Pages } from './open-pages.ts'
import { createPageFile, type PageFile, type WebPage } from './static-assets.ts'

/** How the web pages look and what they are called; see docs/configuration.md. */
export interface Brand {
  readonly name: string | undefined
  readonly logo: Logo | undefined
  /** `#` and six hexadecimal digits. */
  readonly color: string | undefined
  readonly links: readonly (readonly [label: string, url: string])[]
  /** A tag of BCP 47; `undefined`: the visitor's browser chooses. */
  readonly language: string | undefined
}

export interface Logo {
  readonly format: 'svg' | 'png'
  readonly bytes: Buffer
}

/**
 * The pages with the brand in their documents, so that it costs no request: `web/shared/brand.ts` reads it there.
 * Without a setting, the same pages.
 */
export async function brandPages(pages: Pages, brand: Brand): Promise<Pages> {
  const { name, logo: image, color, links, language } = brand
  const isSet = [name, image, color, language].some((value) => value !== undefined)
  if (!isSet && links.length === 0) return pages
  const logo = image && (await createLogo(image))
  const colors = [...pages.user.assets.keys()].find((asset) => asset.startsWith(COLORS_PREFIX))
  const rewrite = (document: PageFile | undefined) =>
    document && rewriteDocument(document, { brand, logo, colors })
  const withLogo = async ({ document, assets }: WebPage): Promise<WebPage> => ({
    document: await rewrite(document),
    assets: logo === undefined ? assets : new Map([...assets, [logo.name, logo.file]]),
  })
  return {
    user: await withLogo(pages.user),
    operator: await withLogo(pages.operator),
    link: await rewrite(pages.link),
  }
}

/** Of the style sheet that makes shades of the color, an asset of the pages (`web/vite.config.ts`). */
const COLORS_PREFIX = 'brand-colors-'

interface LogoAsset {
  readonly name: string
  readonly file: PageFile
}

/**
 * An SVG image can contain script and styles. Nothing runs and nothing is loaded, also if it is opened by itself; only
 * its own styles apply.
 */
const LOGO_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

async function createLogo({ format, bytes }: Logo): Promise<LogoAsset> {
  const created = await createPageFile(`.${format}`, bytes)
  const file = { ...created, policy: LOGO_POLICY }
  return { name: `logo-${created.contents.get('identity')?.etag}.${format}`, file }
}

interface Rewriting {
  readonly brand: Brand
  readonly logo: LogoAsset | undefined
  /** The name of its style sheet. */
  readonly colors: string | undefined
}

async function rewriteDocument(
  { contents }: PageFile,
  { brand, logo, colors }: Rewriting,
): Promise<PageFile> {
  const { name, color, links, language } = brand
  const read = { name, language, color, links: links.length > 0 ? links : undefined }
  const meta = `<meta name="brand" content="${escape(JSON.stringify(read))}">`
  const document = contents.get('identity')?.bytes.toString() ?? ''
  const [icon = '<link', assets = ''] = ICON.exec(document) ?? []
  const html = document
    .replace('<html lang="en">', (found) =>
      language === undefined ? found : `<html lang="${escape(language)}">`,
    )
    .replace('<title>Cloud Repository', (found) =>
      name === undefined ? meta + found : `${meta}<title>${escape(name)}`,
    )
    .replace(icon, (found) =>
      logo === undefined
        ? found
        : `<link rel="icon" href="${assets}${logo.name}" type="${logo.file.type}"`,
    )
    .replace('</head>', (found) =>
      color === undefined || colors === undefined
        ? found
        : `<link rel="stylesheet" href="${assets}${colors}">${found}`,
    )
  return createPageFile('.html', Buffer.from(html))
}

/** And the folder of the assets, which it is in. */
const ICON = /<link rel="icon" href="([^"]*\/)[^"/]+" type="[^"]+"/

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

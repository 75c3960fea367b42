import { readFileSync } from 'node:fs'
import { isLongerThan } from '../core/characters.ts'
import { messageOf } from '../core/errors.ts'
import type { Brand, Logo } from '../http/pages/brand.ts'
import type { Reader } from './reader.ts'
import { assertWithoutCredentials, httpUrlOf } from './urls.ts'

/** What is not set is as built. */
export function readBrand({ shown }: Reader): Brand {
  return {
    name: shown('PAGE_NAME', '', parseName),
    logo: shown('PAGE_LOGO', '', parseLogo),
    color: shown('PAGE_COLOR', '', parseColor),
    links: shown('PAGE_LINKS', '{}', parseLinks),
    language: shown('PAGE_LANGUAGE', '', parseLanguage),
  }
}

const MAX_NAME_LENGTH = 60

function parseName(text: string): string | undefined {
  if (text === '') return undefined
  if (isLabel(text, MAX_NAME_LENGTH)) return text
  throw new Error(`must be 1 to ${MAX_NAME_LENGTH} characters in one line`)
}

/** Neither control characters, line separators nor those that change the direction of a text. */
function isLabel(text: string, maxLength: number): boolean {
  return text.trim() !== '' && !isLongerThan(text, maxLength) && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text)
}

const MAX_LOGO_BYTES = 256 * 1024

function parseLogo(path: string): Logo | undefined {
  if (path === '') return undefined
  const bytes = readLogo(path)
  const format = formatOf(bytes)
  if (format === undefined) {
    throw new Error('must be the path of an SVG file (with its xmlns attribute) or of a PNG file')
  }
  if (bytes.length <= MAX_LOGO_BYTES) return { format, bytes }
  throw new Error(`must be the path of a file of at most ${MAX_LOGO_BYTES / 1024} KiB`)
}

function readLogo(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Error(`must be the path of a file that the service can read (${messageOf(error)})`, {
      cause: error,
    })
  }
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

function formatOf(bytes: Buffer): Logo['format'] | undefined {
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'png'
  // Without its namespace, browsers take it for any XML document.
  const isSvg = bytes.includes('<svg') && bytes.includes('http://www.w3.org/2000/svg')
  return isSvg ? 'svg' : undefined
}

function parseColor(text: string): string | undefined {
  if (text === '') return undefined
  if (/^#[0-9a-f]{6}$/i.test(text)) return text.toLowerCase()
  if (/^#[0-9a-f]{3}$/i.test(text)) return text.toLowerCase().replaceAll(/[0-9a-f]/g, '$&$&')
  throw new Error('must be a color in hexadecimal digits, such as #0a7f5a')
}

const MAX_LINKS = 6
const MAX_LABEL_LENGTH = 40
const MAX_URL_LENGTH = 2000

function parseLinks(text: string): Brand['links'] {
  const links = parseObject(text)
  if (links.length > MAX_LINKS) throw new Error(`must have at most ${MAX_LINKS} links`)
  return links.map(([label, url]) => [label, linkOf(label, url)])
}

function parseObject(text: string): readonly (readonly [string, unknown])[] {
  try {
    const links: unknown = JSON.parse(text)
    if (typeof links === 'object' && links !== null && !Array.isArray(links)) {
      return Object.entries(links)
    }
  } catch {
    // The same advice.
  }
  throw new Error(
    'must be a JSON object that maps labels to URLs, such as {"Imprint": "https://example.com/imprint"}',
  )
}

function linkOf(label: string, value: unknown): string {
  if (!isLabel(label, MAX_LABEL_LENGTH)) {
    throw new Error(`must have labels of 1 to ${MAX_LABEL_LENGTH} characters in one line`)
  }
  const url = typeof value === 'string' && value.length <= MAX_URL_LENGTH ? value : ''
  // Other schemes, such as `javascript:`, could run script in the page.
  const link = /^mailto:/i.test(url) ? URL.parse(url) : httpUrlOf(url)
  if (link) {
    assertWithoutCredentials(link)
    return link.href
  }
  throw new Error(
    `${JSON.stringify(label)} must be an https, http or mailto URL of at most ${MAX_URL_LENGTH} characters`,
  )
}

/** Which languages there are is known when the pages are read. */
function parseLanguage(text: string): string | undefined {
  if (text === '') return undefined
  try {
    return new Intl.Locale(text).toString()
  } catch (error) {
    throw new Error('must be a language tag, such as en or de', { cause: error })
  }
}

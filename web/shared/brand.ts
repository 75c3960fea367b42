/** What an operator has set about the pages. The service writes it into the document (`http/pages/brand.ts`). */
interface Brand {
  readonly name?: string
  /** If set, the page is in this language, whatever the browser prefers. */
  readonly language?: string
  /** `#` and six hexadecimal digits. */
  readonly color?: string
  readonly links?: readonly (readonly [label: string, url: string])[]
}

export function readBrand(): Brand {
  const meta = document.querySelector<HTMLMetaElement>('meta[name=brand]')
  return meta === null ? {} : (JSON.parse(meta.content) as Brand)
}

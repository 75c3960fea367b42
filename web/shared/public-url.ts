/** The base URL of the service for clients, if an operator has set it. The service writes it into the document. */
export function readPublicUrl(): string | undefined {
  return document.querySelector<HTMLMetaElement>('meta[name=public-url]')?.content
}

import { messages } from '../messages.ts'
import { readBrand } from './brand.ts'

/** The mark and the name of the product, where a page has no other head. */
export function ProductName() {
  return (
    <p class="product-name">
      <span class="mark" aria-hidden="true" />
      {messages.product}
    </p>
  )
}

/** The links that the operator has set, such as the imprint. */
export function ProductLinks() {
  const { links = [] } = readBrand()
  if (links.length === 0) return null
  return (
    <nav class="product-links" aria-label={messages.product}>
      {links.map(([label, url]) => (
        // Another tab: this one may be uploading.
        <a key={label} href={url} target="_blank" rel="noreferrer">
          {label}
        </a>
      ))}
    </nav>
  )
}

import type { ApiDocument, Json } from './api-document.ts'
import { contents, operationList } from './contents.ts'
import { html, Html, NOTHING } from './html.ts'
import { operationSection } from './operation-section.ts'
import { operationsUnder, tagAnchor, tagTitle } from './operations.ts'
import { phrase, prose } from './prose.ts'
import { headers, problems, schemas } from './reference.ts'
import { table } from './table.ts'

export interface PageParts {
  /** A style sheet and a script, which are put into the page as they are. */
  readonly style: string
  readonly script: string
  /** An SVG image. */
  readonly icon: string
  /** Of the service in the commands, until the script replaces it with the page's own. */
  readonly address: string
}

/**
 * Renders an OpenAPI document of the service as an HTML page: every operation with a command that calls it, and every
 * schema, header and problem. The page loads nothing. It is whole without its script, which shows one section at a time,
 * searches, and copies commands. Its links are relative, so it works under any base path.
 */
export function docsPage(json: Json, { style, script, icon, address }: PageParts): string {
  const document = json as unknown as ApiDocument
  const { title } = document.info
  const own = `<style>${style}</style><script>${script}</script>`
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}" />
        ${new Html(own)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header class="top">
          ${new Html(icon.replace('<svg', '<svg class="mark" aria-hidden="true"'))}
          <h1 class="product">${title} <span class="quiet">API reference</span></h1>
          <div class="search" role="search" hidden>
            <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
              <path d="M11 4.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM16 16l4 4" />
            </svg>
            <input
              class="field"
              type="search"
              id="search"
              placeholder="Search operations"
              aria-label="Search operations"
              aria-keyshortcuts="/"
              autocapitalize="none"
              autocomplete="off"
              spellcheck="false"
              maxlength="100"
            />
            <kbd aria-hidden="true">/</kbd>
          </div>
        </header>
        <div class="columns">
          <nav id="contents" aria-label="Contents">
            <p class="found" role="status"></p>
            ${contents(document)}
          </nav>
          <main id="content">
            ${introduction(document)}
            ${document.tags.map((tag) => [tagSection(document, tag), ...operationsUnder(document, tag.name).map((placed) => operationSection(document, placed, address))])}
            ${schemas(document)} ${headers(document)} ${problems(document)}
          </main>
        </div>
      </body>
    </html> `
  return page.text
}

function introduction({ info, components }: ApiDocument): Html {
  const rows = Object.entries(components.securitySchemes).map(([name, { description }]) => [
    html`<code>${name}</code>`,
    phrase(description),
  ])
  return html`<section class="view" id="introduction">
    <h2>Introduction</h2>
    ${prose(info.description)}
    <p>
      Version ${info.version} of the API. All paths are relative to the part of the address of this
      page before <code>/docs</code>. The same description for programs is
      <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).
    </p>
    <p>
      Each operation has a command for curl and any POSIX shell. It has the required parameters,
      reads the token from the variable <code>TOKEN</code> of the shell, which
      <code>TOKEN=...</code> sets, and sends the file <code>README.md</code>.
    </p>
    <h3 id="credentials">Credentials</h3>
    ${table(['name', 'description'], rows)}
  </section> `
}

function tagSection(
  document: ApiDocument,
  { name, description }: ApiDocument['tags'][number],
): Html {
  const placed = operationsUnder(document, name)
  return html`<section class="view" id="${tagAnchor(name)}">
    <h2>${tagTitle(name)}</h2>
    ${prose(description)} ${placed.length > 0 ? operationList(placed) : NOTHING}
  </section> `
}

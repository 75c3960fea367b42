import { html, type Html } from './html.ts'

/** A table whose first column holds row headers. It scrolls if it is wider than the page. */
export function table(columns: readonly string[], rows: readonly (readonly Html[])[]): Html {
  const heads = columns.map((column) => html`<th scope="col">${column}</th>`)
  const body = rows.map(([first = '', ...rest]) => {
    const cells = rest.map((cell) => html`<td>${cell}</td>`)
    return html`<tr>
      <th scope="row">${first}</th>
      ${cells}
    </tr> `
  })
  return html`<div class="wide">
    <table>
      <thead>
        <tr>
          ${heads}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div> `
}

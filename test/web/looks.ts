import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

export const WIDE = { width: 1280, height: 800 }
export const NARROW = { width: 390, height: 780 }
export const TOUCH = { hasTouch: true, isMobile: true, viewport: NARROW }

/** Half the size of what the package exports. */
const AXE = new URL(import.meta.resolve('axe-core/axe.min.js'))

/** What, as axe has it, keeps whom from using what the page shows. */
export async function violationsIn(page: Page): Promise<readonly { id: string; html: string[] }[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') {
    await page.evaluate(await readFile(AXE, 'utf8'))
  }
  // All rules are run all the same. Of what they let pass axe would describe each element.
  const found = await page.evaluate(`axe.run({ resultTypes: ['violations'] })`)
  const { violations } = found as {
    readonly violations: readonly { id: string; nodes: { html: string }[] }[]
  }
  return violations.map(({ id, nodes }) => ({ id, html: nodes.map(({ html }) => html) }))
}

interface Act {
  readonly action: string
  readonly name: string
}

/** Does something with a file. Where there is little room its row has one button for all that can be done. */
export async function actOn(page: Page, { action, name }: Act): Promise<void> {
  if ((page.viewportSize()?.width ?? 0) >= WIDE.width) {
    const row = page.getByRole('row', { name })
    await row.getByTitle(action, { exact: true }).click({ force: true })
    return
  }
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click()
}

/** Asks axe in both widths what keeps whom from using what the page shows. */
export async function expectSound(page: Page): Promise<void> {
  expect(await violationsIn(page)).toEqual([])
  const wide = page.viewportSize()
  await page.setViewportSize(NARROW)
  expect(await violationsIn(page)).toEqual([])
  if (wide !== null) await page.setViewportSize(wide)
}

/** What can be tapped in the topmost layer, but is less wide or high than a fingertip. */
export async function smallTargets(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const layer = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document
    const all = layer.querySelectorAll('button, a[href], input:not([hidden]), select, summary')
    return [...all].flatMap((element) => {
      // A file and a choice are tapped as a whole.
      const whole = element.matches('.name') ? '.row, .tile' : 'label'
      const { width, height } = (element.closest(whole) ?? element).getBoundingClientRect()
      const isShown = width > 0 && height > 0
      return isShown && (width < 44 || height < 44) ? [[element.outerHTML, width, height]] : []
    })
  })()`)
}

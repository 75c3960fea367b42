/**
 * The handler of a click, but not of the second one of a double click, which would act on what the first has put under the
 * pointer. Fingers don't double-click: their quick taps each count.
 */
export function firstClick(act: () => void): (event: MouseEvent) => void {
  return (event) => {
    const isTap = event instanceof PointerEvent && event.pointerType === 'touch'
    if (event.detail < 2 || isTap) act()
  }
}

/** The element of the folder that contains this one. */
export function folderAt(target: EventTarget | null): HTMLElement | undefined {
  if (!(target instanceof Element)) return undefined
  return target.closest<HTMLElement>('[data-folder]') ?? undefined
}

import { visibleText } from './visible-text.ts'

/** A name, so that it changes neither its own look nor the direction of the text around it. */
export function ShownName({ name }: { readonly name: string }) {
  return <bdi>{visibleText(name)}</bdi>
}

/** What went wrong, which screen readers announce; nothing without a text. */
export function ProblemNotice({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null
  return (
    <p class="notice notice-bad" role="alert">
      {text}
    </p>
  )
}

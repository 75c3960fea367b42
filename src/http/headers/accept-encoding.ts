import { CODINGS, type Coding } from '../pages/static-assets.ts'

/**
 * The best coding that an `Accept-Encoding` allows (RFC 9110 section 12.5.3). Weights order nothing here but for 0, which
 * forbids: what is smallest is best for everyone. Without a coding that is allowed the content is sent as it is.
 */
export function chooseCoding(header: string | undefined): Coding {
  const allowed = new Map((header ?? '').split(',').map(parseElement))
  const isAllowed = (coding: Coding) => allowed.get(coding) ?? allowed.get('*') ?? false
  return CODINGS.find(isAllowed) ?? 'identity'
}

function parseElement(element: string): readonly [coding: string, isAllowed: boolean] {
  const [coding = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase())
  return [coding, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))]
}

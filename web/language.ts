/**
 * The language of the messages, of number and time formats, and of the `lang` attribute. To add a language, add its
 * messages and set its name here.
 */
export const LANGUAGE = 'en'

/**
 * The language of the pages: of what they say, of how they write numbers and times, and of what their documents call
 * themselves. Another is one more object of texts, and its name here.
 */
export const LANGUAGE = 'en'

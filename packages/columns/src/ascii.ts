/** Bytes of ASCII that parsers and encoders compare with. */
export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const QUOTE = 34;
export const COMMA = 44;
export const MINUS = 45;
export const POINT = 46;
export const ZERO = 48;
export const COLON = 58;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;

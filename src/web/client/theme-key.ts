/** Where the browser stores the chosen theme. */
export const themeKey = 'tickwarden-theme'

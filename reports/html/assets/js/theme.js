// Light, dark, or as the system has it.

const THEMES = ['system', 'light', 'dark'];

function startTheme(redraw) {
	const button = document.getElementById('theme');
	let theme = 0;
	button.hidden = false;
	button.addEventListener('click', () => {
		theme = (theme + 1) % THEMES.length;
		if (theme) document.documentElement.dataset.theme = THEMES[theme];
		else delete document.documentElement.dataset.theme;
		button.textContent = `Theme: ${THEMES[theme]}`;
		redraw();
	});
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}

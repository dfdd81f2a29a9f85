"""Write every kept file anew."""

from tests.golden import latex, values

for path, text in {**latex.kept(), **values.kept()}.items():
    path.write_text(text())
    print(path)

// Made by Tests/CLDR/units.py from the data of the Unicode CLDR, under this license:
//
// UNICODE LICENSE V3
//
// COPYRIGHT AND PERMISSION NOTICE
//
// Copyright © 2004-2025 Unicode, Inc.
//
// NOTICE TO USER: Carefully read the following legal agreement. BY
// DOWNLOADING, INSTALLING, COPYING OR OTHERWISE USING DATA FILES, AND/OR
// SOFTWARE, YOU UNEQUIVOCALLY ACCEPT, AND AGREE TO BE BOUND BY, ALL OF THE
// TERMS AND CONDITIONS OF THIS AGREEMENT. IF YOU DO NOT AGREE, DO NOT
// DOWNLOAD, INSTALL, COPY, DISTRIBUTE OR USE THE DATA FILES OR SOFTWARE.
//
// Permission is hereby granted, free of charge, to any person obtaining a
// copy of data files and any associated documentation (the "Data Files") or
// software and any associated documentation (the "Software") to deal in the
// Data Files or Software without restriction, including without limitation
// the rights to use, copy, modify, merge, publish, distribute, and/or sell
// copies of the Data Files or Software, and to permit persons to whom the
// Data Files or Software are furnished to do so, provided that either (a)
// this copyright and permission notice appear with all copies of the Data
// Files or Software, or (b) this copyright and permission notice appear in
// associated Documentation.
//
// THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY
// KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
// MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF
// THIRD PARTY RIGHTS.
//
// IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE
// BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR CONSEQUENTIAL DAMAGES,
// OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS,
// WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION,
// ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA
// FILES OR SOFTWARE.
//
// Except as contained in this notice, the name of a copyright holder shall
// not be used in advertising or otherwise to promote the sale, use or other
// dealings in these Data Files or Software without prior written
// authorization of the copyright holder.
//
// SPDX-License-Identifier: Unicode-3.0

/// The names of units of time and of bytes in all languages, from the Unicode CLDR 35.1, 36, 37, 41, 42, 44, 45, 46, 47, 46 with Apple's changes.
enum UnitNames {
    /// The names, one line for each unit and decimal separator.
    ///
    /// Each line has the unit, the separator, or `-` if the languages with these names have different ones, and the names. A name that
    /// ends with `#` precedes its number.
    static let table = """
        ns , nano giây|nd|ndtk|nn|ns.|nsan|nsn|нсэк.|нҫ|նվ|ນນ​ວິ|ნწმ
        ns - nanosekunde#|ns|нс|ن.ث.|نينو سيڪنڊ|نینو سیکنڈ
        ns . Nansẹk|nanosec|nanosec.|nanosecs|nhēk|ns ʻe#|ns#|nsek|nénósekendh|sf|نانوسەكۋند|ܢܐܢܘܖ̈ܦܦܐ|ܢܐܢܘܪܦܦܐ|ߝߞ#|न.से.|नॅसे|नैनो से॰|नै॰से॰|নেঃ ছেঃ|நா.செ.|నా.సె|ನ್ಯಾ.ಸೆ|നാ.സെ.|නැත#|นาโนวิ|ናኖሰከንድ|ᎾᏃ|奈秒|納秒|纳秒|𞤲𞤳𞤭𞤲
        ns ٫ نانوثانیه
        us , mcs|micrô giây|mks|μd|μn|μs.|μsan|μsn|μс|μວິ|мкс.|мкҫ|մկվ|მკწმ
        us - mikrosekunde#|µs|μs|мкс|م.ث.|مائڪرو سيڪنڊ|مائیکرو سیکنڈ
        us . Maiksẹk|Maíksẹ́k|myks|máikrósekendh|μ.സെ.|μhēk|μs ʻe#|μs#|μsec|μsecs|μsek|μсек|ميكروسەكۋند|ܡܝܟܪܘܖ̈ܦܦܐ|ܡܝܟܪܘܪܦܦܐ|ߝߢ#|मा.से.|मा॰से॰|মাঃ ছেঃ|మై.సె|මයික්‍රොතත්#|ไมโครวิ|ማሰ|微秒|𞤻𞤳𞤭𞤲
        us ٫ مایکروثانیه|میکروثانیه
        ms , md|mili giây|milisek.|mn|ms.|msan|msn|мсек|мҫ|մվ|ມລວ|მწმ
        ms - millisekunde#|ms|ms#|msek|мс|ملي ث|ملي سيڪنڊ|ملی سیکنڈ
        ms . Mílisẹ́kọn|hm|milieil|milisekendh|millisec|millisec.|millisecs|millisecs.|ms ʻe#|sm#|مىللىسېكۇنت|ميليسەكۋند|ܡܝܠܝܪ̈ܦܦܐ|ܡܝܠܝܪܦܦܐ|ߝߥ#|मि.से.|मिलिसे|मिलिसेकंद|मि॰से॰|মিঃ ছেঃ|ਮਿਲੀਸਕਿੰਟ|મિસે|மி.வி.|మి.సె|ಮಿ.ಸೆ.|മി.സെ.|මිලිතත්#|มิลลิวินาที|မီလီစက္ကန့်|ሚሴ|ᏌᎠ|ម.វិ|毫秒|𞤤𞤳𞤭𞤲|𞤥𞤳𞤭𞤲
        ms ٫ میلی‌ثانیه
        s , dtk|giây|mp|s.|san|seg|segs|sig|sig.|sn|sn.|son.|tsn|δευτ.|с|сек.|сония|сэк.|сөк|ҫ|վրկ|ວິ|წმ
        s - Sek.|s|saat|sec|secs|seg.|sek|sek.|sekunde#|сек|ث|ساعت|سيڪنڊ|سیکنڈ|في سيڪنڊ
        s . Okpí#|Sẹ́kọn|d#|dhiog|diog|eil|hēk|ilbrqsi|ka segundo|s ʻe#|sec.|secs.|segundo|sekend#|sekendh|sekhondi|shoic|soic|sɛk#|ìsh àáy|ìṣ àáy|שנ׳|سېكۇنت|سەكۋند|ܖ̈ܦܦܐ|ܪܦܦܐ|ߝ#|से|सेकंद|सेकेन्ड|से॰|ছেকেণ্ড|সেকেন্ড|ਸਕਿੰਟ|સેકંડ|ସେକେଣ୍ଡ|வி.|விநாடி|விநாடிகள்|సె.|సెక.|ಸೆಕೆಂ|സെ.|තත්#|วิ|စက္ကန့်|ሰከ|ሴኮንድ|ᎠᏎᏢ|វិនាទី|秒|초|𑄥𑄬𑄇𑄬𑄚𑄳𑄓𑄴|𞤳𞤭𞤲
        s ٫ ثانیه
        min , d|daq.|dk.|dəq|m.|men.|mín.|p|phút|tsd|λ.|λεπ.|дақ|мүн|хв|хв.|ր|ນທ|წთ
        min - Min.|dakika#|men|min|min.|mins|mnt|мин|мин.|د|منٹ|منٽ
        min . Mínit|a#|aɖabaƒoƒo#|daqiiqo|dqqd|iminithi|ka minuto|m ʻe#|meletth|mhion|min#|mins.|mion|mnt#|mun|nóim|ìsh|ìṣ|דק׳|مىنۇت|مينۋت|میلٹ|ܩܛܝܢ̈ܐ|ܩܛܝܢܐ|ߡߌ߬ߛ#|मिनि|मिनीट|मिनेट|मि॰|মিনিট|ਮਿੰਟ|મિનિટ|ମିନିଟ୍‌|நிமி.|நிமிட|நிமிடம்|నిమి.|ನಿಮಿ|മി.|මිනි#|นาที|မိနစ်|ደቂ|ደቂቃ|ደቒቓ|ᎢᏯᏔ|នាទី|分|分鐘|分钟|분|𑄟𑄨𑄚𑄨𑄖𑄴|𞤳𞤮𞤶|𞤸𞤮𞤶
        min ٫ دقیقه|دَقه
        h , St.|e|giờ|góź.|h.|hodź.|jam|klst.|oa|oe|oere|ora|ore|orë|oră|sa.|saat|sag|sat|sata|sati|soat|sr|st.|t|t.|tim|u.|uur|val.|ó|ώ.|ώρ.|ώρα|гадз|гадз.|год|сат|сата|сати|сағ|сехет|соат|ст|ч|ч.|ժ|ຊມ|სთ
        h - Std.|godz.|h|hr|hrs|j|oras|saa#|st|с.|جم|س|ڪلاڪ|گھنٹہ|گھنٹے
        h . Owápȟe#|Stn.|awa|awr|gaƒoƒo#|h ʻe#|hora|hr.|hrs.|jem|ka oras|na oras|s#|scd|sáhat|u|uair|ura|uras|vor|wkt|Áwa|ŋm#|сахь.|цаг|שעה|שע׳|سائەت|ساعات|گینٹہ|ܫ̈ܥܐ|ܫܥܬܐ|ߕ#|घं॰|घण्टा|ता|वर|ঘণ্টা|ঘন্টা|ਘੰਟਾ|ਘੰਟੇ|કલાક|ଘଣ୍ଟା|ம.|மணிநேரம்|గం.|ಗಂ.|മ|පැය#|ชม.|နာရီ|ሰዓ|ᏑᏟ|ម៉ោង|小时|小時|時間|시간|𑄊𑄧𑄚𑄴𑄑|𞤶𞤢
        h ٫ ساعت
        B , Aṭ|aṭ|aṭamḍan|baiti|bajt|bajta|bajti|bajtov|bajtova|bajtu|bajty|bajtů|bayt|bita|bite|bájt|bæti|být|greep|o|oct|t|Б|байта|байты|бајт|бајти|Բ|Բայթ|բայթ|ბაიტი
        B - B|Byte|Bytes|bait|baiti#|byte|bytes|octet|байт|بائيٽ|بايت
        B . Bait|beart|beit|beyt|bheart|byte#|báìtì|bèt|feit|ka byte|mbeart|paiti ʻe#|בייט|ܒܐܝܬ|बाइट|बायट|বাইট|ਬਾਇਟ|બાઇટ|ବାଇଟ୍|பை.|బై|ಬೈ.|ಬೈಟ್|ബൈറ്റ്|බයිට්#|ไบต์|ባይት|ᎠᏍᎦᎳ|字节|𑄝𑄭𑄖𑄴|𞤔
        B ٫ بایت
        kB , KAṬ|kAṬ|kt|КБ|Кбайт|կԲ|კბაიტი
        kB - kB|kilobaiti#|ko|кБ|كيلوبايت|ڪلو بائيٽ|ڪلو بائيٽز
        kB . KB|kB ʻe#|kB#|kébáìtì|ܟܝܠܘܒܐܝܬ|কিঃ বাঃ|కేబీ|ಕಿ.ಬೈ.|കെബി|කිබ#|ኪሎባይት|ኪባ|千字节|𞤳𞤔
        kB ٫ کیلوبایت
        MB , MAṬ|Mt|MБ|Мбайт|ՄԲ|მბაიტი
        MB - MB|MB#|Mo|МБ|م.ب|ميغابايت|ميگا بائيٽز
        MB . MB ʻe#|ܡܝܓܐܒܐܝܬ|মেঃ বাঃ|ఎమ్‌బి|ಮೆ.ಬೈ.|എംബി|මෙබ#|ሜጋባይት|兆字节|𞤃𞤔
        MB ٫ مگابایت
        GB , GAṬ|Gt|Гбайт|ԳԲ|გბაიტი
        GB - GB|GB#|Go|ГБ|غ.ب|غيغابايت|گيگا بائيٽز
        GB . GB ʻe#|jíbáìtì|ܓܝܓܐܒܐܝܬ|গিঃ বাঃ|జీబీ|ಗಿ.ಬೈ.|ജിബി|ගිබ#|ጊባ|ጊጋባይት|吉字节|𞤘𞤔
        GB ٫ گیگابایت
        TB , TAṬ|Tt|TБ|Тбайт|ՏԲ|ტბაიტი
        TB - TB|To|terabaiti#|ТБ|تيرابايت|ٽيرا بائيٽز
        TB . TB ʻe#|TB#|Tíbáìtì|ܬܝܪܐܒܐܝܬ|টেঃ বাঃ|టీబీ|ಟೆ.ಬೈ.|ടിബി|ටෙබ#|ቴራባይት|太字节|𞤚𞤔
        TB ٫ ترابایت
        """

    /// The names that mean two units of the same quantity, one line for each unit.
    ///
    /// Each line has the unit, the name, and all unit names of the languages in which the name means this unit. So the other names in a
    /// payload determine the unit.
    static let rivals = """
        h|saat|GB|MB|TB|bayt|dəq|kB|msan|nsan|saat|san|μsan
        s|saat|GB|MB|TB|bait|j|kB|min|ms|ns|saat|μs
        h|ساعت|GB|MB|TB|byte|kB|μs|بایت|ترابایت|ثانیه|دقیقه|ساعت|مایکروثانیه|مگابایت|میلی‌ثانیه|میکروثانیه|نانوثانیه|کیلوبایت|گیگابایت
        s|ساعت|GB|MB|TB|byte|kB|min|ms|ns|μs|جم|ساعت
        """
}
